/** A catalog of which a part cannot be read is not taken for one without that part. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../fakes/folder.ts';
import { catalogOf } from '../../fakes/gate.ts';
import { portolan } from '../../fakes/terminal.ts';

/** Two catalogs; the second lacks a package, as its file is broken. */
function scene(): string {
  const directory = folder({
    'whole/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
    'whole/quay/catalog.yaml': catalogOf('quay', ['1.0.0']),
    'part/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  });
  writeFileSync(join(directory, 'part/broken.yaml'), 'schema: olm.package\n  name: quay\n');
  return directory;
}

test.each([
  [2, ['diff', 'whole', 'part']],
  [1, ['graph', 'part', '--format', 'json']],
  [2, ['bundle', 'fetch', 'part', '--to', 'bundles', '--insecure', '127.0.0.1:9']],
  [2, ['ledger', 'published.jsonl', 'part']],
  [0, ['suggest-graph', 'part']],
  [1, ['install-set', 'etcd', 'part']],
])('exit code %d, and the error with its file: %j', async (code, words) => {
  const directory = scene();
  const { exit, err } = await portolan(directory, ...words);
  expect([exit, err]).toEqual([code, expect.stringMatching(/^part\/broken\.yaml:\d+:\d+: error: /m)]);
  expect(existsSync(join(directory, 'published.jsonl'))).toBe(false);
});

test.each([
  [['whole', 'whole', '--whole'], '--whole needs --pruning'],
  [['whole', 'whole', '--bundle', '--package', 'etcd'], '--package has no effect with --bundle'],
  [['whole', 'whole', '--bundle', '--repo', '.'], '--repo has no effect with --bundle'],
  [['whole', 'whole', '--bundle', '--pruning'], '--pruning has no effect with --bundle'],
])('diff %j is refused', async (words, why) => {
  expect(await portolan(scene(), 'diff', ...words)).toMatchObject({
    exit: 2,
    err: expect.stringContaining(why),
  });
});
