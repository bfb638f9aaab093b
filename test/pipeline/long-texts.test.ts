/** Long texts on which a pattern that tries again at each character takes the square of their length. */
import { expect, test } from 'vitest';
import { repositoryOf, withoutDigest } from '../../catalog/fbc/fragment.ts';
import { imagesInTemplates } from '../../catalog/mirror/helm/chart-images.ts';
import { readImageSet } from '../../catalog/mirror/image-set.ts';
import { readMapping } from '../../catalog/mirror/mapping.ts';
import { worldOf } from '../../catalog/olm/foresight/world.ts';
import { AS_TODAY } from '../../catalog/olm/suggest/policy.ts';
import { suggestGraph } from '../../catalog/olm/suggest/suggestion.ts';
import { chartsIn } from '../../pipeline/mirror/charts/repository.ts';
import { compileLayout } from '../../pipeline/policy/layout.ts';
import { catalogFrom } from '../catalog/olm/universe.ts';

const MANY = 20_000;

test.each([
  ['quay.io/a/b:v1', 'quay.io/a/b'],
  ['quay.io:5000/a/b', 'quay.io:5000/a/b'],
  ['quay.io/a/b:v1@sha256:0', 'quay.io/a/b'],
  ['a:b:c', 'a'],
  [`quay.io/a${':'.repeat(MANY)}/`, `quay.io/a${':'.repeat(MANY)}/`],
  [`quay.io/a${'@'.repeat(MANY)}\n`, 'quay.io/a'],
])('79: the repository of an image is found in one look (%#)', (image, repository) => {
  expect(repositoryOf(image)).toBe(repository);
  expect(withoutDigest(image)).not.toContain('@');
});

test('79: a name that no file system has is in no place of a layout', () => {
  const { match } = compileLayout([{ kind: 'catalog', pattern: 'flat/{catalog}-{package}.yaml' }]);
  expect(match('flat/v4.20-etcd.yaml')).toMatchObject({ catalog: 'v4.20', package: 'etcd' });
  expect(match(`flat/${'v'.repeat(300)}-etcd.yaml`)).toBeUndefined();
});

test('79: a comment behind an image in a template of a chart ends where the line does', () => {
  const lines = ['image: quay.io/a/b:1 # old', `image: quay.io/a/c:1${'#'.repeat(MANY)}\u2028`];
  const templates = new Map([['templates/a.yaml', ['{{ a }}', ...lines].join('\n')]]);
  const { references } = imagesInTemplates('chart', { templates, unseen: [] });
  expect(references).toEqual(['quay.io/a/b:1', 'quay.io/a/c:1']);
});

test('79: a pattern of tags in a mapping is what follows the last colon', () => {
  const text = `quay.io/a/b:v*=m.example.com/b\nquay.io/a/b:${'*'.repeat(MANY)}!=m.example.com/c\n`;
  const { mappings, findings } = readMapping(text, 'mapping.txt');
  expect(mappings).toMatchObject([{ source: 'quay.io/a/b', tags: 'v*' }]);
  expect(findings).toHaveLength(1);
});

test('79: one list of versions cannot stand for those of every chart of an index', async () => {
  const list = Array.from({ length: 1000 }, (_, i) => `- {version: 1.0.${i}, urls: [a.tgz]}`).join('\n');
  const index = (names: number): string =>
    `v: &v\n${list}\nentries:\n${Array.from({ length: names }, (_, i) => `  n${i}: *v`).join('\n')}\n`;
  const charts = (names: number): ReturnType<typeof chartsIn> =>
    chartsIn(
      { name: 'r', url: 'https://charts.example.com' },
      { name: 'n0', version: '1.0.7' },
      {
        download: async () => new TextEncoder().encode(index(names)),
        registry: undefined as never,
      },
    );
  expect(await charts(2)).toMatchObject([{ name: 'n0', version: '1.0.7' }]);
  await expect(charts(501)).rejects.toMatchObject({ code: 'too-large' });
});

/** A pattern that tries again at each character takes much longer for texts of this length than a test may. */
const LONG = 150_000;
const PATIENCE = 5000;

test('79: an additional image whose name has very many colons is refused', { timeout: PATIENCE }, () => {
  const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n';
  const read = (name: string): readonly string[] => {
    const text = `${head}mirror:\n  additionalImages:\n  - name: "${name}"\n`;
    return readImageSet(text, 'isc.yaml').findings.map(({ message }) => message);
  };
  expect(read('quay.io/a/b:v1')).toEqual([]);
  expect(read(`quay.io/a${':'.repeat(LONG)}/b`)).toContainEqual(
    expect.stringContaining('has neither a tag nor a digest'),
  );
});

test('79: a name in skips that is full of versions is looked at once', { timeout: PATIENCE }, async () => {
  const name = `p.v${'1.'.repeat(LONG)}\u2028`;
  const written = {
    versions: ['1.0.0', '1.1.0'],
    channels: { a: [{ name: 'p.v1.0.0' }, { name: 'p.v1.1.0', replaces: 'p.v1.0.0', skips: [name] }] },
  };
  const catalog = await catalogFrom({ p: written });
  const ofPackage = catalog.packages.get('p');
  if (!ofPackage) throw new Error('the package is missing');
  const { channels } = suggestGraph(await worldOf({ name: 'cat', catalog }), ofPackage, AS_TODAY);
  expect(channels[0]?.entries.find((one) => one.name === 'p.v1.1.0')?.skips).toEqual([name]);
});
