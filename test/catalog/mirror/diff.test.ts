/** What one plan's mirror needs beside another's, and what nobody needs any longer. */
import { describe, expect, test } from 'vitest';
import { diffMirrors } from '../../../catalog/mirror/diff.ts';

const DIGEST = `sha256:${'1'.repeat(64)}`;
const mapping = (source: string, destination: string) => ({ source, destination });
const destinations = (them: readonly { readonly destination: string }[]): string[] =>
  them.map(({ destination }) => destination);

describe('an image that has a new name in the mirror', () => {
  // Registries that delete only whole manifests refuse to delete the old name: prune would fail forever.
  test.each([['quay.io/x:v1'], [`quay.io/x@${DIGEST}`]])('keeps the old one: %s', (source) => {
    const diff = diffMirrors([mapping(source, 'm/x:old')], [mapping(source, 'm/x:new')]);
    expect(destinations(diff.add)).toEqual(['m/x:new']);
    expect([diff.prune, destinations(diff.keep)]).toEqual([[], ['m/x:old']]);
  });

  test('gives it up in another repository', () => {
    const diff = diffMirrors([mapping('quay.io/x:v1', 'm/x:v1')], [mapping('quay.io/x:v1', 'm/y:v1')]);
    expect([destinations(diff.prune), diff.keep]).toEqual([['m/x:v1'], []]);
  });
});

test('an image that the new plan does not have can be deleted', () => {
  const stays = mapping('quay.io/x:v2', 'm/x:v2');
  const diff = diffMirrors([mapping('quay.io/x:v1', 'm/x:v1'), stays], [stays]);
  expect([destinations(diff.prune), diff.keep]).toEqual([['m/x:v1'], []]);
});

test('a tag that gets another image changes and is not deleted', () => {
  const diff = diffMirrors([mapping('quay.io/x:v1', 'm/x:t')], [mapping('quay.io/x:v2', 'm/x:t')]);
  expect(diff.change).toEqual([{ ...mapping('quay.io/x:v2', 'm/x:t'), before: 'quay.io/x:v1' }]);
  expect([diff.prune, diff.keep]).toEqual([[], []]);
});

test('a registry in another spelling is the same one: nothing is added or deleted', () => {
  const before = mapping('quay.io/x:v1', 'mirror.example.com/m/x:v1');
  const after = mapping('quay.io/x:v1', 'Mirror.Example.com:443/m/x:v1');
  const diff = diffMirrors([before], [after]);
  expect(diff).toEqual({ add: [], change: [], unchanged: [after], prune: [], keep: [] });
});
