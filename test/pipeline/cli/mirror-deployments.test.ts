/** A plan that asks registries reads the deployments that a catalog leaves out; no other plan asks anybody. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../fakes/folder.ts';
import { withoutWaiting } from '../../fakes/no-waiting.ts';
import { type ServedBundle, servedBundle } from '../../fakes/served-bundle.ts';
import { portolan } from '../../fakes/terminal.ts';

const AGENT = `org/agent@sha256:${'4'.repeat(64)}`;

async function planned({ host: { host }, catalog }: ServedBundle, ...words: string[]) {
  const directory = folder();
  mkdirSync(join(directory, 'catalog'));
  writeFileSync(join(directory, 'catalog', 'catalog.json'), catalog);
  const ran = await portolan(
    directory,
    ...['mirror', 'plan', 'catalog', '--as', `${host}/org/index:v1`, '--to', 'mirror.example.com'],
    ...['--insecure', host, ...words],
  );
  return { ...ran, mapping: readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8') };
}

test('an image that only a variable of a deployment names is planned, and looked for', async () => {
  withoutWaiting();
  const bundle = await servedBundle((host) => `${host}/${AGENT}`);
  const { exit, err, out, mapping } = await planned(bundle, '--online');
  expect(mapping).toContain(AGENT);
  expect(err).toContain(`${bundle.host.host}/${AGENT} does not exist (needed by sample/sample.v1.0.0)`);
  expect(out).toContain('Ready for disconnected clusters: 0 of 1 bundle');
  expect(out).not.toContain('not checked');
  expect(exit).toBe(1);
});

test('without registries the bundle is not checked, and nobody is asked', async () => {
  const bundle = await servedBundle((host) => `${host}/${AGENT}`);
  const { out, mapping } = await planned(bundle);
  expect(mapping).not.toContain(AGENT);
  expect(out).toContain('Ready for disconnected clusters: 0 of 1 bundle; 1 not checked');
  expect(bundle.host.seen).toEqual([]);
});
