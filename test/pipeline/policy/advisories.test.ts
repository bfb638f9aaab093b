import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { advisoriesAt, concernsCatalog, readAdvisory } from '../../../pipeline/policy/advisories.ts';
import { SCHEMA } from '../../../pipeline/policy/advisory-shape.ts';
import { makeRepository } from '../../fakes/repository.ts';

const PATH = 'advisories/ETCD-1.yaml';

const GOOD = `apiVersion: portolan/v1alpha1
kind: Advisory
package: etcd
versions: ['1.2.3', '>=1.3.0 <1.3.4']
reason: {kind: cve, id: CVE-2026-12345}
action: yank
message: 'Loses data on restart. Upgrade to 1.3.4.'
`;

function read(text: string) {
  return readAdvisory(PATH, new TextEncoder().encode(text));
}

test('an advisory, with its defaults', () => {
  const { advisory, findings } = read(GOOD);
  expect(findings).toEqual([]);
  expect(advisory).toEqual({
    id: 'ETCD-1',
    path: PATH,
    package: 'etcd',
    versions: ['1.2.3', '>=1.3.0 <1.3.4'],
    reason: { kind: 'cve', id: 'CVE-2026-12345' },
    action: 'yank',
    message: 'Loses data on restart. Upgrade to 1.3.4.',
    catalogs: ['*'],
    allowDowngrade: false,
    withoutUpgradePath: [],
  });
  expect(advisory && concernsCatalog(advisory, 'v4.20')).toBe(true);
  const some = read(`${GOOD}catalogs: ['v4.1*']\n`).advisory;
  expect(some && concernsCatalog(some, 'v4.20')).toBe(false);
});

describe('a defect is a finding on its line', () => {
  test.each([
    ['versions: [latest]', 4, 'versions[0]: "latest" is not a version or a range'],
    ['reason: {kind: cve}', 5, 'reason: id is missing'],
    ['action: remove', 6, 'action must be one of yank, deprecate, redirect, block-upgrade, found "remove"'],
    ['action: redirect', 6, 'redirect needs a version or a channel'],
    ["to: {version: '1.3.4'}", 8, 'to has no effect with yank'],
    ['severity: high', 8, 'unknown key "severity"'],
  ])('%s', (line, at, message) => {
    const key = line.slice(0, line.indexOf(':') + 1);
    const text = GOOD.includes(`\n${key}`)
      ? GOOD.replace(new RegExp(`^${key}.*$`, 'm'), line)
      : `${GOOD}${line}\n`;
    const { advisory, findings } = read(text);
    expect(advisory).toBeUndefined();
    expect(findings.map((finding) => [finding.location.line, finding.message])).toEqual([[at, message]]);
    expect(findings[0]?.rule).toMatch(/^advisory\//);
  });

  test('more than its limits', () => {
    const long = GOOD.replace(/versions: .*/, `versions: ['>=1.0.0 ${'<9.0.0 '.repeat(80)}']`);
    expect(read(long).findings[0]?.message).toContain('versions[0] must be at most 500 characters, found ');
    const many = Array.from({ length: 101 }, (_, i) => `'1.0.${i}'`).join(', ');
    expect(read(GOOD.replace(/versions: .*/, `versions: [${many}]`)).findings[0]?.message).toBe(
      'versions must be a list of at most 100 values, found a list',
    );
  });

  test('a second document, and a key that is written twice', () => {
    expect(read(`${GOOD}---\n{}\n`).findings[0]?.message).toBe('the advisory must be one document');
    expect(read(`${GOOD}action: deprecate\n`).findings[0]?.rule).toBe('settings/repeated-key');
  });
});

test('all advisories of a tree; what cannot be read is a finding, and other files are none', async () => {
  const made = makeRepository();
  const commit = made.commit({
    'advisories/B-1.yaml': GOOD,
    'advisories/A-1.yaml': GOOD,
    'advisories/broken.yaml': '{',
    'advisories/README.md': 'text',
    'advisories/deeper/C-1.yaml': '{',
    'advisories/D-1.yml': GOOD,
    'advisories/E-1.YAML': GOOD,
  });
  const repository = await openRepository(made.directory);
  const { advisories, findings } = await advisoriesAt(repository.objects, commit);
  await repository.close();
  made.remove();
  expect(advisories.map(({ id }) => id)).toEqual(['A-1', 'B-1']);
  expect(findings.map(({ location }) => location.file)).toEqual([
    'advisories/D-1.yml',
    'advisories/E-1.YAML',
    'advisories/broken.yaml',
  ]);
});

test('the schema is one, and editors get the same from the documentation', () => {
  expect(() => new Ajv({ strict: true, allErrors: true }).compile(SCHEMA)).not.toThrow();
  expect(readFileSync('docs/advisory.schema.json', 'utf8')).toBe(
    readFileSync('pipeline/advisory.schema.json', 'utf8'),
  );
});
