import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInstallable } from '../../../../catalog/olm/resolve/installable.ts';
import { resolveNamespace } from '../../../../catalog/olm/resolve/namespace.ts';
import {
  lanesOf,
  type Node,
  type Scope,
  type ScopeCatalog,
} from '../../../../catalog/olm/resolve/snapshot.ts';
import { runs } from '../../../fakes/runs.ts';
import { bundleName, sourceFrom, type WrittenPackage } from '../universe.ts';

type Property = { readonly type: string; readonly value: unknown };

const requires = (packageName: string, versionRange: string): Property => ({
  type: 'olm.package.required',
  value: { packageName, versionRange },
});
const provides = (kind: string): Property => ({
  type: 'olm.gvk',
  value: { group: 'example.com', version: 'v1', kind },
});

/** A package whose one channel is a chain of its versions. */
function chain(name: string, properties: Readonly<Record<string, readonly Property[]>>): WrittenPackage {
  const versions = Object.keys(properties);
  const stable = versions.map((version, i) => ({
    name: bundleName(version, name),
    ...(i > 0 ? { replaces: bundleName(versions[i - 1] ?? '', name) } : {}),
  }));
  return { versions, channels: { stable }, properties };
}

function nodesOf({ catalog }: ScopeCatalog): Node[] {
  return [...catalog.packages.values()].flatMap((one) => lanesOf(one).flatMap(({ nodes }) => nodes));
}

const scopeOf = (source: ScopeCatalog): Scope => ({ catalogs: [source], assumesDependencies: true });

test('a bundle is installable exactly if OLM resolves it, taking packages that are not here as given', async () => {
  const property = fc.oneof(
    fc.record({
      packageName: fc.constantFrom('a', 'b', 'c', 'elsewhere'),
      versionRange: fc.constantFrom('1.0.0', '2.0.0', '>=1.0.0', '>=3.0.0'),
    }),
    fc.constantFrom('K', 'L'),
  );
  const properties = fc
    .uniqueArray(property, { maxLength: 3, selector: (one) => JSON.stringify(one) })
    .map((all) =>
      all.map((one) =>
        typeof one === 'string' ? provides(one) : requires(one.packageName, one.versionRange),
      ),
    );
  const versions = fc.record({ '1.0.0': properties, '2.0.0': properties });
  const counts = { yes: 0, no: 0 };
  await fc.assert(
    fc.asyncProperty(fc.record({ a: versions, b: versions, c: versions }), async (packages) => {
      const written = Object.entries(packages).map(([name, own]) => [name, chain(name, own)]);
      const source = await sourceFrom(Object.fromEntries(written));
      const scope = scopeOf(source);
      for (const node of nodesOf(source)) {
        const { name, package: of, channel } = node;
        const asked = { name: of, package: of, channel, catalog: 'cat', startingCSV: name, installedCSV: '' };
        const all = { name: 'olm', subscriptions: [asked], installed: [] };
        const isResolved = resolveNamespace(scopeOf(source), all).kind !== 'fails';
        counts[isResolved ? 'yes' : 'no']++;
        expect([name, isInstallable(scope, source, node)]).toEqual([name, isResolved]);
      }
    }),
    runs(200),
  );
  expect(Math.min(counts.yes, counts.no)).toBeGreaterThan(10);
});

test('what packages of this catalog alone could meet, and do not, is met by no other', async () => {
  const named = (packageName: string, versionRange: string): object => ({
    package: { packageName, versionRange },
  });
  const installable = async (value: object): Promise<boolean> => {
    const a = chain('a', { '1.0.0': [{ type: 'olm.constraint', value: { failureMessage: 'f', ...value } }] });
    const source = await sourceFrom({ a, b: chain('b', { '1.0.0': [], '2.0.0': [] }) });
    const [node] = nodesOf(source);
    if (!node) throw new Error('no bundle');
    return isInstallable(scopeOf(source), source, node);
  };
  const any = (...constraints: object[]): object => ({ any: { constraints } });
  expect(await installable(any(named('b', '>=3.0.0'), named('b', '<1.0.0')))).toBe(false);
  expect(await installable({ all: { constraints: [any(named('b', '3.x'))] } })).toBe(false);
  expect(await installable(any(named('b', '>=3.0.0'), named('b', '2.x')))).toBe(true);
  expect(await installable(any(named('b', '>=3.0.0'), named('elsewhere', '1.x')))).toBe(true);
});

test('bundles that require each other in a line cost one look each, not a search', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
  const packages = names.map((name, i) => [
    name,
    chain(name, { '1.0.0': i < 19 ? [requires(`p${i + 1}`, '1.0.0')] : [] }),
  ]);
  const source = await sourceFrom(Object.fromEntries(packages));
  const effort = { left: 1000 };
  const scope = { ...scopeOf(source), effort };
  for (const node of nodesOf(source)) expect(isInstallable(scope, source, node)).toBe(true);
  // Each requirement, and the one bundle that meets it.
  expect(1000 - effort.left).toBe(38);
});
