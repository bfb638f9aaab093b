import { expect, onTestFinished, test } from 'vitest';
import { withoutWaiting } from '../../../fakes/no-waiting.ts';
import { makeRepository } from '../../../fakes/repository.ts';
import { type ServedBundle, servedBundle } from '../../../fakes/served-bundle.ts';
import { portolan } from '../../../fakes/terminal.ts';

interface Report {
  readonly disconnected: readonly {
    readonly bundles: number;
    readonly ready: number;
    readonly unchecked?: number;
    readonly worse: readonly { readonly missing: readonly string[] }[];
  }[];
}

/** A pull request that brings the bundle, in a catalog with `olm.csv.metadata`. */
async function checked(
  { catalog }: ServedBundle,
  allowed: string,
  words: readonly string[],
): Promise<Report['disconnected'][0] | undefined> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = `apiVersion: portolan/v1alpha1\nkind: Portolan\nregistries: {allow: [${allowed}]}\n`;
  const [before = '', after = ''] = repository.chain(
    { '.github/portolan.yaml': policy },
    { 'catalogs/v4.20/sample/catalog.json': catalog },
  );
  const { out } = await portolan(
    repository.directory,
    ...['check', '--base', before, '--head', after, '--format', 'json', ...words],
  );
  return (JSON.parse(out) as Report).disconnected[0];
}

const PINNED = `quay.io/org/agent@sha256:${'4'.repeat(64)}`;

test('deployments are read from the image of a bundle whose catalog leaves them out', async () => {
  withoutWaiting();
  const good = await servedBundle(PINNED);
  const asked = ['--insecure', good.host.host];
  expect(await checked(good, `'${good.host.host}'`, asked)).toMatchObject({
    ...{ bundles: 1, ready: 1, worse: [] },
  });
  const bad = await servedBundle('quay.io/org/agent@sha256:12');
  const report = await checked(bad, `'${bad.host.host}'`, ['--insecure', bad.host.host]);
  expect(report).toMatchObject({ ready: 0 });
  expect(report?.worse[0]?.missing).toEqual([expect.stringContaining('quay.io/org/agent@sha256:12')]);
  expect(report).not.toHaveProperty('unchecked');
});

test('they are not checked where the policy does not allow the registry', async () => {
  const bundle = await servedBundle(PINNED);
  const { host } = bundle;
  expect(await checked(bundle, '', ['--insecure', host.host])).toMatchObject({
    ...{ bundles: 1, ready: 0, unchecked: 1, worse: [] },
  });
  expect(host.seen).toEqual([]);
});
