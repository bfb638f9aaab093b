import { expect, test } from 'vitest';
import type { CatalogSelection } from '../../../catalog/mirror/image-set.ts';
import { mappingsOf } from '../../../catalog/mirror/plan.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { prepareImageSet } from '../../../pipeline/mirror/prepare.ts';

const part = (name: string, entries: string, ...versions: readonly string[]): string =>
  [
    `---\nschema: olm.package\nname: ${name}\ndefaultChannel: stable\n`,
    `---\nschema: olm.channel\npackage: ${name}\nname: stable\nentries: [${entries}]\n`,
    ...versions.flatMap((version) => [
      `---\nschema: olm.bundle\npackage: ${name}\nname: ${name}.v${version}\nimage: quay.io/${name}/bundle:v${version}\n`,
      `properties: [{type: olm.package, value: {packageName: ${name}, version: ${version}}}]\n`,
    ]),
  ].join('');

/** `p` is sound; of the entries of `q` two have no bundle. */
const CATALOG = [
  part('p', '{name: p.v2.0.0, replaces: p.v1.0.0}', '1.0.0', '2.0.0'),
  '---\nschema: olm.channel\npackage: p\nname: old\nentries: [{name: p.v1.0.0}]\n',
  part(
    'q',
    '{name: q.v3.0.0, replaces: q.v2.0.0}, {name: q.v2.0.0, replaces: q.v1.0.0}, {name: q.v1.0.0}',
    '1.0.0',
  ),
].join('');

async function plan(selection: Pick<CatalogSelection, 'full' | 'packages'>) {
  return prepareImageSet({
    imageSet: { catalogs: [{ ...selection, catalog: 'quay.io/c:v1' }], additional: [], blocked: [] },
    catalogs: [{ source: sourceOf({ 'catalog.yaml': CATALOG }), digest: undefined }],
    to: 'mirror.example.com',
    style: 'oc-mirror',
    documents: {},
  });
}

test('images of a range are mirrored, also of versions that the written catalog does not have', async () => {
  const channels = [{ name: 'stable', minVersion: '1.0.0' }];
  const {
    plan: made,
    selections,
    findings,
  } = await plan({ full: false, packages: [{ name: 'p', channels }] });
  expect(findings).toEqual([]);
  expect(selections[0]?.bundles.map(({ name }) => name)).toEqual(['p.v2.0.0']);
  const written = made.placements.map((placement) => placement.written);
  expect(written).toEqual(expect.arrayContaining(['quay.io/p/bundle:v1.0.0', 'quay.io/p/bundle:v2.0.0']));
});

test('an image is copied for the platforms of all who need it, and for all platforms where one needs them', async () => {
  const planned = async (...each: (string[] | undefined)[]) => {
    const { plan: made } = await prepareImageSet({
      imageSet: {
        catalogs: each.map((platforms, i) => ({
          catalog: `quay.io/c${i}:v1`,
          full: true,
          packages: [],
          ...(platforms && { platforms }),
        })),
        additional: [],
        blocked: [],
      },
      catalogs: each.map(() => ({ source: sourceOf({ 'catalog.yaml': CATALOG }), digest: undefined })),
      to: 'mirror.example.com',
      documents: {},
    });
    return new Map(mappingsOf(made).map(({ source, platforms }) => [source, platforms]));
  };
  const both = await planned(['linux/arm64'], ['linux/amd64']);
  expect(both.get('quay.io/p/bundle:v1.0.0')).toEqual(['linux/amd64', 'linux/arm64']);
  expect(both.get('quay.io/c0:v1')).toEqual(['linux/arm64']);
  const whole = await planned(['linux/arm64'], undefined);
  expect(whole.get('quay.io/p/bundle:v1.0.0')).toBeUndefined();
  expect(whole.get('quay.io/c0:v1')).toEqual(['linux/arm64']);
});

test('a selection that opm would not serve is refused in one sentence', async () => {
  const { findings } = await plan({ full: true, packages: [{ name: 'q', channels: [] }] });
  expect(findings).toEqual([
    expect.objectContaining({
      rule: 'mirror/selection',
      severity: 'error',
      message: expect.stringMatching(
        /^opm rejects the selection from quay\.io\/c:v1: .*"q\.v3\.0\.0".*, and 1 more$/,
      ),
      location: expect.objectContaining({ file: 'catalog.yaml' }),
    }),
  ]);
});

test('a catalog that is taken as it is is not judged', async () => {
  expect((await plan({ full: true, packages: [] })).findings).toEqual([]);
});
