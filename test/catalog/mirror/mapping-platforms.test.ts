/** Platforms in a mapping.txt: written, read back, compared. */
import { expect, test } from 'vitest';
import { diffMirrors } from '../../../catalog/mirror/diff.ts';
import { mappingText, readMapping } from '../../../catalog/mirror/mapping.ts';

const mapping = { source: 'quay.io/a:v1', destination: 'mirror.example.com/a:v1' };

test('a comment that oc skips names them', () => {
  const text = mappingText([{ ...mapping, platforms: ['linux/amd64', 'linux/arm64'] }, mapping]);
  expect(text).toBe(
    'quay.io/a:v1=mirror.example.com/a:v1 # platforms: linux/amd64,linux/arm64\nquay.io/a:v1=mirror.example.com/a:v1\n',
  );
  expect(readMapping(text, 'm').mappings).toMatchObject([
    { ...mapping, platforms: ['linux/amd64', 'linux/arm64'] },
    mapping,
  ]);
  expect(readMapping(text, 'm').mappings[1]).not.toHaveProperty('platforms');
});

test('other comments mean nothing, and a platform that is none is no reason to copy all of them', () => {
  expect(readMapping(`${mappingText([mapping])}# for our clusters\n`, 'm').findings).toEqual([]);
  const { mappings, findings } = readMapping('quay.io/a:v1=mirror.example.com/a:v1 # platforms: amd64', 'm');
  expect(mappings).toEqual([]);
  expect(findings).toMatchObject([
    {
      message: '"amd64" is not a platform, expected OS/ARCHITECTURE such as linux/amd64',
      location: { line: 1, column: 38 },
    },
  ]);
});

test('other platforms of the same image are a change', () => {
  const diff = diffMirrors([{ ...mapping, platforms: ['linux/amd64'] }], [mapping]);
  expect(diff).toMatchObject({ change: [mapping], unchanged: [] });
  expect(diffMirrors([mapping], [mapping])).toMatchObject({ change: [], unchanged: [mapping] });
});
