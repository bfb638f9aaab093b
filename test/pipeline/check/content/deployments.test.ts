import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { testClient } from '../../../fakes/host.ts';
import { labelledImage } from '../../../fakes/labelled-image.ts';
import { withoutWaiting } from '../../../fakes/no-waiting.ts';
import { registry, type TestRegistry } from '../../../fakes/registry.ts';
import { makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const FILES = ['manifests/crd.yaml', 'manifests/csv.yaml', 'metadata/annotations.yaml'];
const LABELS = {
  'operators.operatorframework.io.bundle.mediatype.v1': 'registry+v1',
  'operators.operatorframework.io.bundle.package.v1': 'sample',
  'operators.operatorframework.io.bundle.manifests.v1': 'manifests/',
  'operators.operatorframework.io.bundle.metadata.v1': 'metadata/',
};

/** A registry with the sample bundle, whose deployment names one image more. */
async function served(variable: string): Promise<{ host: TestRegistry; image: string }> {
  const host = await registry();
  const files = Object.fromEntries(
    FILES.map((path) => [path, readFileSync(`test/catalogs/bundle/${path}`, 'utf8')]),
  );
  const csv = files['manifests/csv.yaml'] ?? '';
  const named = csv.replace(
    /( +)image: (\S+)\n/,
    (line, indent) => `${line}${indent}env: [{name: RELATED_IMAGE_AGENT, value: '${variable}'}]\n`,
  );
  expect(named).not.toBe(csv);
  const content = await labelledImage(LABELS, { ...files, 'manifests/csv.yaml': named });
  const tag = parseReference(`${host.host}/org/bundle:v1`);
  await pushImage(testClient([host.host]), tag, { image: content });
  host.seen.length = 0;
  return { host, image: `${host.host}/org/bundle@${content.root.digest}` };
}

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
  image: string,
  allowed: string,
  words: readonly string[],
): Promise<Report['disconnected'][0] | undefined> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const catalog = [
    { schema: 'olm.package', name: 'sample', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'sample', name: 'stable', entries: [{ name: 'sample.v1.0.0' }] },
    {
      schema: 'olm.bundle',
      name: 'sample.v1.0.0',
      package: 'sample',
      image,
      properties: [
        { type: 'olm.package', value: { packageName: 'sample', version: '1.0.0' } },
        { type: 'olm.csv.metadata', value: { displayName: 'Sample' } },
      ],
    },
  ];
  const policy = `apiVersion: portolan/v1alpha1\nkind: Portolan\nregistries: {allow: [${allowed}]}\n`;
  const [before = '', after = ''] = repository.chain(
    { '.github/portolan.yaml': policy },
    { 'catalogs/v4.20/sample/catalog.json': catalog.map((blob) => JSON.stringify(blob)).join('\n') },
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
  const good = await served(PINNED);
  const asked = ['--insecure', good.host.host];
  expect(await checked(good.image, `'${good.host.host}'`, asked)).toMatchObject({
    ...{ bundles: 1, ready: 1, worse: [] },
  });
  const bad = await served('quay.io/org/agent@sha256:12');
  const report = await checked(bad.image, `'${bad.host.host}'`, ['--insecure', bad.host.host]);
  expect(report).toMatchObject({ ready: 0 });
  expect(report?.worse[0]?.missing).toEqual([expect.stringContaining('quay.io/org/agent@sha256:12')]);
  expect(report).not.toHaveProperty('unchecked');
});

test('they are not checked where the policy does not allow the registry', async () => {
  const { host, image } = await served(PINNED);
  expect(await checked(image, '', ['--insecure', host.host])).toMatchObject({
    ...{ bundles: 1, ready: 0, unchecked: 1, worse: [] },
  });
  expect(host.seen).toEqual([]);
});
