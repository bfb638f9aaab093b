import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { installedOf } from '../../../../catalog/fbc/edge.ts';
import type { Package } from '../../../../catalog/fbc/model.ts';
import { foresightOf, stepsOf } from '../../../../catalog/olm/foresight/foresight.ts';
import { nextHops } from '../../../../catalog/olm/graph/hop-graph.ts';
import { resolveExtension } from '../../../../catalog/olm/resolve/extension.ts';
import { resolveNamespace } from '../../../../catalog/olm/resolve/namespace.ts';
import type { ScopeCatalog } from '../../../../catalog/olm/resolve/snapshot.ts';
import { formatVersion, tryParseVersion } from '../../../../catalog/version/version.ts';
import { runs } from '../../../fakes/runs.ts';
import {
  anyPackage,
  bundleName,
  PACKAGE,
  soundPackage,
  sourceFrom,
  VERSIONS,
  type WrittenEntry,
  type WrittenPackage,
} from '../universe.ts';

const RUNS = runs(60);

describe('laws', () => {
  test('one chain of replacements strands nobody', async () => {
    const chain = fc.subarray([...VERSIONS], { minLength: 1 }).map((versions) => ({
      versions,
      channels: {
        a: versions.map((version, i) => ({
          name: bundleName(version),
          ...(i > 0 ? { replaces: bundleName(versions[i - 1] as string) } : {}),
        })),
      },
    }));
    await fc.assert(
      fc.asyncProperty(chain, async (written) => {
        const { foresight, ofPackage } = await seen(written);
        for (const bundle of ofPackage.bundles.values()) {
          expect(foresight.v0({ package: PACKAGE, channel: 'a' }, installedOf(bundle)).arrives).toBe(true);
        }
      }),
      RUNS,
    );
  });

  test('under OLM v0 the road of what a sound channel has never leads down by its chain', async () => {
    await fc.assert(
      fc.asyncProperty(soundPackage, async (written) => {
        const { foresight, ofPackage } = await seen(written);
        for (const bundle of ofPackage.bundles.values()) {
          const fate = foresight.v0({ package: PACKAGE, channel: 'a' }, installedOf(bundle));
          const steps = stepsOf(
            (from) => foresight.v0({ package: PACKAGE, channel: 'a' }, from),
            installedOf(bundle),
          );
          expect(steps.filter(({ kind }) => kind === 'upgrade')).toHaveLength(fate.hops);
          expect(fate.next).toEqual(steps[0]);
        }
      }),
      RUNS,
    );
  });

  test('another edge never leaves OLM v1 with fewer candidates', async () => {
    const extra = fc.constantFrom(...VERSIONS);
    await fc.assert(
      fc.asyncProperty(anyPackage, fc.nat(), extra, extra, async (written, at, skipped, version) => {
        const installed = { name: bundleName(version), version };
        const before = await candidates(written, installed);
        const after = await candidates(withSkip(written, at, bundleName(skipped)), installed);
        for (const name of before) expect(after).toContain(name);
      }),
      RUNS,
    );
  });

  test('the next-hop graph has exactly the edges that the resolvers take', async () => {
    await fc.assert(
      fc.asyncProperty(anyPackage, async (written) => {
        const { source, foresight, ofPackage } = await seen(written);
        for (const { channel, stops } of nextHops(foresight, ofPackage, 'v0')) {
          for (const { bundle, next } of stops) {
            expect(next?.to.name).toBe(resolvedV0(source, ofPackage, { channel, bundle }));
          }
        }
        for (const { channel, stops } of nextHops(foresight, ofPackage, 'v1')) {
          for (const { bundle, next } of stops) {
            expect(next?.to.name).toBe(resolvedV1(source, ofPackage, { channel, bundle }));
          }
        }
      }),
      RUNS,
    );
  });
});

test('a circle is seen, and who runs into it', async () => {
  const entries = [
    { name: bundleName('1.0.0'), skipRange: '=2.0.0' },
    { name: bundleName('2.0.0'), replaces: bundleName('1.0.0') },
  ];
  const { foresight } = await seen({ versions: ['1.0.0', '2.0.0'], channels: { a: entries } });
  const fate = foresight.v0(
    { package: PACKAGE, channel: 'a' },
    { name: bundleName('1.0.0'), version: undefined },
  );
  expect(fate.last).toEqual({ kind: 'circle' });
  expect(fate.arrives).toBe(false);
});

test('what is missing fails loudly, what has no edge stays silently', async () => {
  const { foresight } = await seen({ versions: ['1.0.0'], channels: { a: [{ name: bundleName('1.0.0') }] } });
  const gone = { name: bundleName('0.9.0'), version: undefined };
  expect(foresight.v0({ package: PACKAGE, channel: 'b' }, gone).next).toMatchObject({
    kind: 'fails',
    reason: { code: 'missing' },
  });
  expect(foresight.v0({ package: PACKAGE, channel: 'a' }, gone).next).toMatchObject({
    kind: 'stays',
    reason: { code: 'no-edge' },
  });
  expect(foresight.v1({ package: PACKAGE, channels: [] }, gone).next).toMatchObject({
    kind: 'fails',
    reason: { code: 'no-bundle' },
  });
});

async function seen(written: WrittenPackage): Promise<{
  source: ScopeCatalog;
  foresight: ReturnType<typeof foresightOf>;
  ofPackage: Package;
}> {
  const source = await sourceFrom({ [PACKAGE]: written });
  const ofPackage = source.catalog.packages.get(PACKAGE);
  if (!ofPackage) throw new Error('no package');
  return { source, foresight: foresightOf({ catalogs: [source] }, source), ofPackage };
}

async function candidates(
  written: WrittenPackage,
  installed: { name: string; version: string },
): Promise<readonly string[]> {
  const source = await sourceFrom({ [PACKAGE]: written });
  const resolution = resolveExtension(
    { catalogs: [source] },
    { package: PACKAGE, version: '', channels: [], policy: 'CatalogProvided', installed },
  );
  return resolution.candidates.get(source.name) ?? [];
}

/** The same package with one more name in the skips of one of its entries. */
function withSkip(written: WrittenPackage, at: number, name: string): WrittenPackage {
  const [channel = 'a'] = Object.keys(written.channels);
  const entries = written.channels[channel] ?? [];
  const changed = entries.map(
    (entry, i): WrittenEntry =>
      i === at % entries.length ? { ...entry, skips: [...(entry.skips ?? []), name] } : entry,
  );
  return { ...written, channels: { ...written.channels, [channel]: changed } };
}

test.each(['1.0.0', '1.0.0+2'])('what is installed is walked once, whoever asks: %s', async (text) => {
  const { foresight } = await seen({
    versions: ['1.0.0', '1.1.0'],
    channels: {
      a: [
        { name: bundleName('1.0.0') },
        { name: bundleName('1.1.0'), replaces: bundleName('1.0.0'), skipRange: '<1.1.0' },
      ],
    },
  });
  // The bundle of another state of the catalog has another object for its version.
  const ask = (channel: string, name: string): unknown =>
    foresight.v0({ package: PACKAGE, channel }, { name, version: tryParseVersion(text) });
  for (const name of [bundleName('1.0.0'), 'gone']) {
    expect(ask('a', name)).toMatchObject({ next: { kind: 'upgrade' } });
    expect(ask('a', name)).toBe(ask('a', name));
    expect(ask('', name)).toBe(ask('', name));
  }
});

type From = { channel: string; bundle: string };

function resolvedV0(source: ScopeCatalog, ofPackage: Package, { channel, bundle }: From): string | undefined {
  const version = ofPackage.bundles.get(bundle)?.version;
  const own = { packageName: PACKAGE, version: version && formatVersion(version) };
  const resolution = resolveNamespace(
    { catalogs: [source] },
    {
      name: 'operators',
      subscriptions: [
        { name: 's', package: PACKAGE, channel, catalog: source.name, startingCSV: '', installedCSV: bundle },
      ],
      installed: [{ name: bundle, version, properties: [{ type: 'olm.package', value: own }] }],
    },
  );
  return resolution.kind === 'fails' ? undefined : resolution.steps[0]?.bundle;
}

function resolvedV1(source: ScopeCatalog, ofPackage: Package, { channel, bundle }: From): string | undefined {
  const version = ofPackage.bundles.get(bundle)?.version;
  const { outcome } = resolveExtension(
    { catalogs: [source] },
    {
      package: PACKAGE,
      version: '',
      channels: [channel],
      policy: 'CatalogProvided',
      installed: { name: bundle, version: version ? formatVersion(version) : '' },
    },
  );
  return outcome.kind === 'upgrade' ? outcome.to.name : undefined;
}
