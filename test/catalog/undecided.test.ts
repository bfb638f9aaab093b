/** What costs more than it may is never an answer, whoever asks. */
import { expect, test } from 'vitest';
import { type Crd, readCrd } from '../../catalog/crd/crd.ts';
import { unsafeChanges } from '../../catalog/crd/safety.ts';
import { loadCel } from '../../catalog/fbc/cel/cel.ts';
import { needsWith } from '../../catalog/mirror/select/bundle-requirements.ts';
import { parseChoice, selectPackages } from '../../catalog/mirror/select/select.ts';
import { foresightOf } from '../../catalog/olm/foresight/foresight.ts';
import { worldOf } from '../../catalog/olm/foresight/world.ts';
import { missingRequirements } from '../../catalog/olm/install-set.ts';
import { resolveNamespace } from '../../catalog/olm/resolve/namespace.ts';
import type { ScopeCatalog } from '../../catalog/olm/resolve/snapshot.ts';
import { type Rule, runComparison, runForesight, UndecidedRules } from '../../catalog/rules/rule.ts';
import { Undecided } from '../../catalog/undecided.ts';
import { catalogFrom, type WrittenPackage } from './olm/universe.ts';

const needed = { type: 'olm.gvk.required', value: { group: 'a', kind: 'B', version: 'v1' } };
const served = { type: 'olm.gvk', value: needed.value };

/** A package whose only version has a requirement that ten versions of another one meet. */
async function asking(): Promise<ScopeCatalog> {
  const versions = Array.from({ length: 10 }, (_, i) => `1.${i}.0`);
  const entries = versions.map((version, i) => ({
    name: `q.v${version}`,
    ...(i > 0 ? { replaces: `q.v1.${i - 1}.0` } : {}),
  }));
  const catalog = await catalogFrom({
    p: {
      versions: ['1.0.0', '1.1.0'],
      channels: { stable: [{ name: 'p.v1.0.0' }, { name: 'p.v1.1.0', replaces: 'p.v1.0.0' }] },
      properties: { '1.1.0': [needed] },
    },
    q: {
      versions,
      channels: { stable: entries },
      properties: Object.fromEntries(versions.map((version) => [version, [served]])),
    },
  });
  return { name: 'cat', namespace: 'olm', priority: 0, catalog, serving: true };
}

const P = { package: 'p', channel: 'stable' };
const FROM = { name: 'p.v1.0.0', version: undefined };

const QUESTIONS: Readonly<Record<string, (source: ScopeCatalog, left: number) => unknown>> = {
  'a namespace': (source, left) =>
    resolveNamespace(
      { catalogs: [source], effort: { left } },
      {
        name: 'operators',
        subscriptions: [{ name: 'p', ...P, catalog: 'cat', startingCSV: '', installedCSV: '' }],
        installed: [],
      },
    ).kind,
  'an upgrade path': (source, left) =>
    foresightOf({ catalogs: [source], effort: { left } }, source).v0(P, FROM).end.name,
  'what is missing': (source, left) =>
    missingRequirements({ catalogs: [source], effort: { left } }, [
      ...(source.catalog.packages.get('p')?.bundles.values() ?? []),
    ]).length,
};

test.each(Object.entries(QUESTIONS))(
  '45: %s is not answered where dependencies cost too much',
  async (_, ask) => {
    const source = await asking();
    expect(() => ask(source, 5)).toThrow(
      new Undecided('dependencies in cat', 'bundles require each other in more ways than are tried'),
    );
    expect(() => ask(source, 100)).not.toThrow();
  },
);

test.each([
  [50, true],
  [51, false],
])('45: the served versions of a CRD are compared if they are few: %i', (count, isDecided) => {
  const version = (_: unknown, i: number): object => ({
    name: `v${i + 1}`,
    served: true,
    storage: i === 0,
    schema: { openAPIV3Schema: { type: 'object' } },
  });
  const spec = { group: 'a.io', names: { kind: 'A', plural: 'as' }, scope: 'Namespaced' };
  const crd = readCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'as.a.io' },
    spec: { ...spec, versions: Array.from({ length: count }, version) },
  }) as Crd;
  const compare = () => unsafeChanges(crd, crd);
  if (isDecided) expect(compare()).toEqual([]);
  else expect(compare).toThrow('cannot check the versions of as.a.io: it serves 51 versions');
});

const RULE = { id: 'graph/x', severity: 'error', summary: 'Reports x' } as const;
const NOWHERE = { file: 'catalog.yaml', line: 1, column: 1 };
const undecided = (): never => {
  throw new Undecided('dependencies in cat', 'they are too many');
};

test('45: rules that are not decided end in an error that has what all others found', async () => {
  const world = await worldOf({ name: 'cat', catalog: await catalogFrom({}) });
  const change = { before: world, after: world, packages: [], existed: () => false };
  const rules: Rule[] = [
    { ...RULE, checkWorld: undecided, compare: undecided },
    {
      ...RULE,
      id: 'graph/y',
      checkWorld: (_, report) => report('y', NOWHERE),
      compare: (_, report) => report('y', NOWHERE),
    },
  ];
  for (const run of [() => runForesight(world, rules), () => runComparison(change, rules)]) {
    let thrown: unknown;
    try {
      run();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(UndecidedRules);
    expect((thrown as UndecidedRules).findings.map(({ message }) => message)).toEqual(['y']);
  }
});

test.each([
  [20, true],
  [2000, false],
])('44: a selection by a rule in CEL over %i properties', async (count, isDecided) => {
  const isLabelled = "properties.exists(a, a.type == 'olm.label')";
  const cel = { rule: `${isLabelled} && properties.all(a, properties.all(b, b.type != 'none'))` };
  const constraint = { type: 'olm.constraint', value: { failureMessage: 'x', cel } };
  const labels = Array.from({ length: count }, (_, i) => ({ type: 'olm.label', value: { label: `l${i}` } }));
  const single = (name: string, properties: typeof labels): WrittenPackage => ({
    versions: ['1.0.0'],
    channels: { stable: [{ name: `${name}.v1.0.0` }] },
    properties: { '1.0.0': properties },
  });
  const catalog = await catalogFrom({ p: single('p', [constraint as never]), q: single('q', labels) });
  const needs = needsWith(await loadCel());
  const select = () => selectPackages(catalog, [parseChoice('p')], needs).findings;
  const costly = new Undecided('dependencies of p.v1.0.0', 'a rule in CEL costs more than is evaluated');
  if (isDecided) expect(select()).toEqual([]);
  else expect(select).toThrow(costly);
});
