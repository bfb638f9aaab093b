import { expect, test } from 'vitest';
import { load } from '../../../../catalog/fbc/load.ts';
import { disconnectedOf } from '../../../../pipeline/check/content/disconnected.ts';
import type { TouchedCatalog } from '../../../../pipeline/check/world/touched-catalog.ts';
import { disconnectedLines } from '../../../../pipeline/report/text-report.ts';

const CSV = Buffer.from('{"kind": "ClusterServiceVersion"}').toString('base64');
const MANIFESTS = `properties: [{type: olm.bundle.object, value: {data: ${CSV}}}]\n`;
const METADATA = 'properties: [{type: olm.csv.metadata, value: {displayName: Foo}}]\n';

function state(...images: readonly string[]) {
  return stateWith(MANIFESTS, ...images);
}

async function stateWith(properties: string, ...images: readonly string[]) {
  const text = images
    .map(
      (image, i) =>
        `---\nschema: olm.bundle\nname: foo.v${i}\npackage: foo\nimage: '${image}'\n${properties}`,
    )
    .join('');
  const read = async () => new TextEncoder().encode(text);
  const { blobs } = await load({ files: async () => [{ path: 'catalog.yaml', read }] });
  return { blobs, unread: [] };
}

const good = `quay.io/foo/bundle@sha256:${'1'.repeat(64)}`;
const bad = 'quay.io/foo/bundle@sha256:12';

function touched(before: TouchedCatalog['before'], after: TouchedCatalog['after']): TouchedCatalog[] {
  return [{ names: ['v4.20'], packages: new Set(['foo']), before, after, members: [], places: [] }];
}

test('what a pull request makes worse is named, with what is missing', async () => {
  const [report] = disconnectedOf(touched(await state(good, bad), await state(bad, bad, good)));
  expect(report).toMatchObject({ catalogs: ['v4.20'], bundles: 3, ready: 1 });
  expect(report?.worse.map(({ bundle }) => bundle)).toEqual(['foo/foo.v0']);
  expect(report && disconnectedLines(report)).toEqual([
    'ready for disconnected clusters: 1 of 3 bundles in v4.20',
    expect.stringContaining(`no longer ready after this change: foo/foo.v0 (${bad}: `),
  ]);
});

test('a bundle whose deployments nobody knows is not checked, and never ready', async () => {
  const [report] = disconnectedOf(touched(undefined, await stateWith(METADATA, good, bad)));
  expect(report).toMatchObject({ bundles: 2, ready: 0, unchecked: 1 });
  expect(report && disconnectedLines(report)[0]).toBe(
    'ready for disconnected clusters: 0 of 2 bundles in v4.20; 1 not checked: the catalog does not contain their deployments',
  );
});

test('a catalog that is new, and one that is gone', async () => {
  expect(disconnectedOf(touched(undefined, await state(good)))[0]?.worse).toEqual([]);
  expect(disconnectedOf(touched(await state(good), undefined))).toEqual([]);
});

test('deployments that are known from elsewhere count: what they name must be pulled, too', async () => {
  const after = await stateWith(METADATA, good);
  const knows = (images: readonly string[]) => ({ before: () => images, after: () => images });
  const [ready] = disconnectedOf(touched(undefined, after), knows([good]));
  expect(ready).toMatchObject({ bundles: 1, ready: 1 });
  const [lacking] = disconnectedOf(touched(undefined, after), knows([bad]));
  expect(lacking).toMatchObject({ ready: 0, worse: [{ bundle: 'foo/foo.v0' }] });
});
