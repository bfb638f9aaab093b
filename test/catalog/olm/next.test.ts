import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../catalog/fbc/model.ts';
import { detailedPathV0, detailedPathV1 } from '../../../catalog/olm/foresight/detailed-path.ts';
import { resolveExtension } from '../../../catalog/olm/resolve/extension.ts';
import { resolveNamespace } from '../../../catalog/olm/resolve/namespace.ts';
import { nextV0 } from '../../../catalog/olm/resolve/next-v0.ts';
import { nextOfExtension, nextV1 } from '../../../catalog/olm/resolve/next-v1.ts';
import { type Outcome, placedIn } from '../../../catalog/olm/resolve/outcome.ts';
import { parseVersion } from '../../../catalog/version/version.ts';
import { runs } from '../../fakes/runs.ts';
import { anyPackage, bundleName, PACKAGE, sourceFrom, VERSIONS, type WrittenPackage } from './universe.ts';

const anyInstalled = fc.constantFrom(...VERSIONS).map((version) => ({ name: bundleName(version), version }));

describe('what is prepared for a package answers as the whole resolver does', () => {
  test('under OLM v0', async () => {
    await fc.assert(
      fc.asyncProperty(anyPackage, anyInstalled, async (written, { name, version }) => {
        const source = await sourceFrom({ [PACKAGE]: written });
        const scope = { catalogs: [source] };
        const installed = { name, version: parseVersion(version) };
        const prepared = nextV0(scope, source, { package: PACKAGE, channel: 'a' })(installed);
        const whole = resolveNamespace(scope, {
          name: 'operators',
          subscriptions: [
            {
              name: 's',
              package: PACKAGE,
              channel: 'a',
              catalog: 'cat',
              startingCSV: '',
              installedCSV: name,
            },
          ],
          installed: [
            { ...installed, properties: [{ type: 'olm.package', value: { packageName: PACKAGE, version } }] },
          ],
        });
        expect(target(prepared)).toBe(
          whole.kind === 'fails' ? `fails: ${whole.reason.code}` : (whole.steps[0]?.bundle ?? 'stays'),
        );
      }),
      runs(120),
    );
  });

  test.each([[[]], [['a']], [['b']]])('under OLM v1 with channels %j', async (channels) => {
    await fc.assert(
      fc.asyncProperty(anyPackage, anyInstalled, async (written, { name, version }) => {
        const source = await sourceFrom({ [PACKAGE]: written });
        const selection = { package: PACKAGE, channels };
        const prepared = nextV1(source, selection)({ name, version: parseVersion(version) });
        const whole = resolveExtension(
          { catalogs: [source] },
          { ...selection, version: '', policy: 'CatalogProvided', installed: { name, version } },
        );
        if (whole.ties.length > 0) return;
        expect(placedIn(source.name, prepared)).toEqual(whole.outcome);
      }),
      runs(120),
    );
  });

  test('under OLM v1 with a range and two catalogs', async () => {
    const anyAsked = fc.record({
      range: fc.constantFrom('', '>=1.0.0 <2.0.0', '1.0.x', 'none'),
      channels: fc.constantFrom([], ['a'], ['b']),
      priority: fc.constantFrom(0, 1),
      from: fc.option(anyInstalled, { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(anyPackage, anyPackage, anyAsked, async (one, other, asked) => {
        const { range, channels, priority, from } = asked;
        const catalogs = [
          { ...(await sourceFrom({ [PACKAGE]: one })), name: 'one' },
          { ...(await sourceFrom({ [PACKAGE]: other })), name: 'other', priority },
        ];
        const installed = from && { name: from.name, version: parseVersion(from.version) };
        const prepared = nextOfExtension({ catalogs }, { package: PACKAGE, channels, range }, installed);
        const whole = resolveExtension(
          { catalogs },
          { package: PACKAGE, channels, version: range, policy: 'CatalogProvided', installed: from },
        );
        expect(prepared).toEqual(whole.outcome);
      }),
      runs(200),
    );
  });
});

describe('a road of thousands of steps reads each entry a few times, not once for each step', () => {
  const COUNT = 400;

  test.each([
    ['OLM v0', 'v0', false],
    ['OLM v0 with dependencies', 'v0', true],
    ['OLM v1', 'v1', false],
  ] as const)('%s', async (_, olm, needs) => {
    const reads = { count: 0 };
    const source = await sourceFrom({ [PACKAGE]: chain(COUNT, needs), other: chain(1, false, 'other') });
    for (const entry of source.catalog.packages.get(PACKAGE)?.channels.get('a')?.entries ?? [])
      countReads(entry, reads);
    const from = { name: bundleName('1.0.0'), version: parseVersion('1.0.0') };
    const scope = { catalogs: [source] };
    const road =
      olm === 'v0'
        ? detailedPathV0(scope, { source, place: { package: PACKAGE, channel: 'a' } }, from)
        : detailedPathV1(scope, { package: PACKAGE, channels: [], range: '' }, from);
    expect(road.steps).toHaveLength(COUNT - 1);
    expect(road.arrives).toBe(true);
    expect(reads.count).toBeLessThan(COUNT * 20);
  });
});

/** Versions 1.0.0, 1.1.0 and so on, each of which replaces the one before. */
function chain(count: number, needs: boolean, ofPackage = PACKAGE): WrittenPackage {
  const versions = Array.from({ length: count }, (_, i) => `1.${i}.0`);
  const entries = versions.map((version, i) => ({
    name: bundleName(version, ofPackage),
    ...(i > 0 ? { replaces: bundleName(`1.${i - 1}.0`, ofPackage) } : {}),
  }));
  const need = { type: 'olm.package.required', value: { packageName: 'other', versionRange: '>=1.0.0' } };
  const properties = needs ? Object.fromEntries(versions.map((version) => [version, [need]])) : {};
  return { versions, channels: { a: entries }, properties };
}

/** Counts how often the edges of an entry are read. */
function countReads(entry: Entry, reads: { count: number }): void {
  for (const field of ['replaces', 'skips', 'skipRange'] as const) {
    const value = entry[field];
    const get = (): typeof value => {
      reads.count++;
      return value;
    };
    Object.defineProperty(entry, field, { get });
  }
}

function target(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'upgrade':
      return outcome.to.name;
    case 'stays':
      return 'stays';
    case 'fails':
      return `fails: ${outcome.reason.code}`;
  }
}
