/**
 * Two readers of one file: what the gate reads otherwise than rendering does, somebody else's package hides in.
 * Files of every kind are written in many spellings; whatever rendering makes of them, the gate has seen.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBundle } from '../../catalog/bundle/registry-bundle.ts';
import { renderBundle } from '../../catalog/bundle/render.ts';
import { load } from '../../catalog/fbc/load.ts';
import type { Blobs } from '../../catalog/fbc/model.ts';
import { TEMPLATE_KINDS } from '../../catalog/opm/template/kinds.ts';
import type { plainBundle } from '../../catalog/opm/template/template.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { readComposite } from '../../pipeline/catalogs/render/composite.ts';
import { writeBlobs } from '../../pipeline/catalogs/write-blobs.ts';
import type { Change } from '../../pipeline/change/change.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { BASE, type Gate, openGate, POLICY } from '../fakes/gate.ts';
import type { Files } from '../fakes/repository.ts';
import { spelledTexts, type Value } from '../fakes/spelling.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.close());

const COUNT = 120;

function textsOf(value: Value, seed: number): string[] {
  return spelledTexts(value, { seed, count: COUNT });
}

function sourceOf(files: Readonly<Record<string, string>>): CatalogSource {
  return {
    files: () =>
      Promise.resolve(
        Object.entries(files).map(([path, text]) => ({
          path,
          identity: path,
          read: () => Promise.resolve(new TextEncoder().encode(text)),
        })),
      ),
  };
}

function packagesOf({ packages, channels, bundles, deprecations, others }: Blobs): string[] {
  const named = [...channels, ...bundles, ...deprecations, ...others].map((blob) => blob.package);
  return [...packages.map(({ name }) => name), ...named].filter((name) => name !== '');
}

/** Packages of a catalog's file, as publishing loads it. */
async function loadedPackages(text: string): Promise<string[]> {
  return packagesOf((await load(sourceOf({ 'catalog.yaml': text }))).blobs);
}

const IMAGE = { bundle: plainBundleOf(), csv: {} };

function plainBundleOf(): Parameters<typeof plainBundle>[0] {
  const document = {
    file: '',
    line: 1,
    locate: () => ({ file: '', line: 1, column: 1 }),
    detached: () => document,
  };
  const value = { schema: 'olm.bundle', package: 'etcd', name: 'etcd.v1.0.0', image: 'x' };
  return { ...value, value, document, properties: [], relatedImages: [], version: undefined, release: '' };
}

/** Packages of the catalogs that a template becomes, whatever kind its owner says that it is. */
async function renderedPackages(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const { expand } of TEMPLATE_KINDS) {
    const template = { file: 'template', bytes: new TextEncoder().encode(text) };
    const { blobs } = await expand(template, () => Promise.resolve(IMAGE));
    if (!blobs) continue;
    const written: string[] = [];
    await writeBlobs(blobs, 'yaml', async (chunk) => void written.push(String(chunk)));
    found.push(...(await loadedPackages(written.join(''))));
  }
  return found;
}

/** Packages that a file's change is judged as, and whether the file closes the gate for everybody. */
function seenAt(change: Change, path: string): { names: Set<string>; isRefused: boolean } {
  const isHere = (file: string): boolean => file === path || path.startsWith(`${file}/`);
  const own = [...change.packages.values()].filter(({ paths, elsewhere }) =>
    [...paths, ...elsewhere].some(isHere),
  );
  const foreign = change.foreign.filter(({ location }) => isHere(location.file));
  return {
    names: new Set([...own.map(({ name }) => name), ...foreign.map((one) => one.package)]),
    isRefused: change.unsafe.some(({ location }) => isHere(location.file)),
  };
}

interface Kind {
  /** Where the files lie, in the place of etcd. */
  readonly path: (i: number) => string;
  readonly value: Value;
  readonly base?: Files;
  readonly beside?: (i: number) => Files;
  readonly rendered: (text: string) => Promise<readonly string[]>;
}

const VICTIM = 'quay';
const ENTRIES: Value = [
  { schema: 'olm.package', name: VICTIM, defaultChannel: 'stable' },
  { schema: 'olm.channel', package: VICTIM, name: 'stable', entries: [] },
];
/** A catalog that is sound in itself, which rendering of substitutes asks for. */
const WHOLE: Value = [
  { schema: 'olm.package', name: VICTIM, defaultChannel: 'stable' },
  { schema: 'olm.channel', package: VICTIM, name: 'stable', entries: [{ name: 'quay.v1.0.0' }] },
  {
    schema: 'olm.bundle',
    package: VICTIM,
    name: 'quay.v1.0.0',
    image: 'quay.io/org/quay:v1.0.0',
    properties: [{ type: 'olm.package', value: { packageName: VICTIM, version: '1.0.0' } }],
  },
];
const PREFIX = 'operators.operatorframework.io.bundle';
const CSV = JSON.stringify({
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'ClusterServiceVersion',
  metadata: { name: 'etcd.v1.0.0' },
  spec: { version: '1.0.0' },
});

const KINDS: readonly [string, Kind][] = [
  [
    'basic templates',
    {
      path: (i) => `operators/etcd/catalog-templates/t${i}.yaml`,
      value: { schema: 'olm.template.basic', entries: ENTRIES },
      rendered: renderedPackages,
    },
  ],
  [
    'substitutes templates',
    {
      path: (i) => `operators/etcd/catalog-templates/t${i}.yaml`,
      value: { schema: 'olm.template.substitutes', entries: WHOLE },
      rendered: renderedPackages,
    },
  ],
  [
    'templates of any name',
    {
      path: (i) => `operators/etcd/catalog-templates/t${i}`,
      value: { schema: 'olm.template.basic', entries: ENTRIES },
      rendered: renderedPackages,
    },
  ],
  [
    'catalogs',
    {
      path: (i) => `catalogs/v4.20/etcd/c${i}.yaml`,
      value: { schema: 'olm.channel', package: VICTIM, name: 'stable', entries: [] },
      rendered: loadedPackages,
    },
  ],
  [
    'annotations of bundles',
    {
      path: (i) => `operators/etcd/2.0.${i}/metadata/annotations.yaml`,
      value: { annotations: { [`${PREFIX}.package.v1`]: VICTIM, [`${PREFIX}.channels.v1`]: 'stable' } },
      beside: (i) => ({ [`operators/etcd/2.0.${i}/manifests/csv.yaml`]: CSV }),
      rendered: async (text) => {
        const files = { 'manifests/csv.yaml': CSV, 'metadata/annotations.yaml': text };
        const { bundle } = await readBundle(sourceOf(files));
        const name = bundle && renderBundle(bundle, { image: 'x' }).blob?.package;
        return name ? [name] : [];
      },
    },
  ],
];

describe('what rendering writes, the gate has seen', () => {
  test.each(KINDS)(
    '40: in %s, however they are spelled',
    async (_, { path, value, base, beside, rendered }) => {
      const texts = textsOf(value, 40);
      const files = texts.map((text, i) => ({ [path(i)]: text, ...beside?.(i) }));
      const { change } = await gate.judge({
        author: 'bob',
        base: { [POLICY_PATH]: `${POLICY}limits: {files: 1000}\n`, ...base },
        head: Object.assign({}, ...files),
      });
      let found = 0;
      for (const [i, text] of texts.entries()) {
        const { names, isRefused } = seenAt(change, path(i));
        const written = await rendered(text);
        if (written.includes(VICTIM)) found++;
        if (!isRefused) expect([...names], text).toEqual(expect.arrayContaining([...written]));
      }
      // The spellings are not all such that nothing is rendered.
      expect(found).toBeGreaterThan(COUNT / 5);
    },
  );

  test('40: in composites, whose images are their packages’ own', async () => {
    const file = (i: number): string => `composites/c${i}.yaml`;
    const layout = `${POLICY}limits: {files: 1000}\nlayout:\n  composite: 'composites/{catalog}.yaml'\n`;
    const referring = (image: string): Value => ({
      references: [
        { name: 'etcd', image: 'quay.io/org/etcd:v1' },
        { name: VICTIM, image },
      ],
    });
    const [before, after] = [textsOf(referring('a'), 41), textsOf(referring('b'), 41)];
    const filesOf = (texts: readonly string[]): Files =>
      Object.fromEntries(texts.map((text, i) => [file(i), text]));
    const { change } = await gate.judge({
      author: 'bob',
      base: { ...BASE, [POLICY_PATH]: layout, ...filesOf(before) },
      bare: true,
      head: filesOf(after),
    });
    const unowned = change.areas.flatMap(({ paths }) => paths);
    let found = 0;
    for (const [i, text] of after.entries()) {
      const { composite } = readComposite(file(i), new TextEncoder().encode(text));
      const { names, isRefused } = seenAt(change, file(i));
      expect(isRefused, text).toBe(composite === undefined);
      if (!composite?.references.some(({ image }) => image === 'b')) continue;
      found++;
      if (!unowned.includes(file(i))) expect(names, text).toContain(VICTIM);
    }
    // Its keys have one case only.
    expect(found).toBeGreaterThan(COUNT / 12);
  });

  test('45: in a composite of more packages than a call can have parameters', async () => {
    const layout = `${POLICY}layout:\n  composite: composite.yaml\n`;
    const references = (count: number): string =>
      `references:\n${Array.from({ length: count }, (_, i) => `- {name: p${i}, image: q/a:v1}\n`).join('')}`;
    const { change } = await gate.judge({
      author: 'bob',
      base: { ...BASE, [POLICY_PATH]: layout, 'composite.yaml': references(1) },
      bare: true,
      head: { 'composite.yaml': references(130_000) },
    });
    expect(change.areas.flatMap(({ paths }) => paths)).toEqual(['composite.yaml']);
  });

  test('40: in a bundle whose annotations count because others are gone', async () => {
    const annotations = (name: string): string =>
      JSON.stringify({ annotations: { [`${PREFIX}.package.v1`]: name } });
    const folder = 'operators/etcd/2.0.0';
    const base = {
      [`${folder}/manifests/csv.yaml`]: CSV,
      [`${folder}/metadata/annotations.yaml`]: annotations('etcd'),
      [`${folder}/metadata/others.yaml`]: annotations(VICTIM),
    };
    for (const head of [
      { [`${folder}/metadata/annotations.yaml`]: null },
      { [`${folder}/metadata/annotations.yaml`]: '---\n' },
    ]) {
      const { decision } = await gate.judge({ author: 'bob', base, head });
      expect(decision).toMatchObject({
        authority: 'deny',
        headline: expect.stringContaining(`${folder}/metadata/others.yaml`),
      });
    }
    const own = { [`${folder}/metadata/dependencies.yaml`]: 'dependencies: []\n' };
    expect((await gate.judge({ author: 'bob', base, head: own })).decision.authority).not.toBe('deny');
  });

  test('40: what rendering refuses in a template is refused, and a template of one’s own is not', async () => {
    const at = 'operators/etcd/catalog-templates/basic';
    const judged = async (text: string): Promise<string> =>
      (await gate.judge({ author: 'bob', head: { [at]: text } })).decision.authority;
    const own = 'Schema: olm.template.basic\nEntries:\n- {Schema: olm.package, Name: etcd}\n';
    expect(await judged(own)).toBe('allow');
    expect(await judged(own.replaceAll('etcd', VICTIM))).toBe('deny');
    expect(await judged('schema: olm.template.basic\nentries: {}\n')).toBe('deny');
    expect(await judged('schema: olm.template.basic\nentries: [{name: x}]\n')).toBe('deny');
    expect(await judged('schema: olm.semver\nsurprise: x\n')).toBe('deny');
  });
});
