import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chainBelow, headOf } from '../../../../catalog/fbc/channel.ts';
import { edgeField } from '../../../../catalog/fbc/edge.ts';
import { load } from '../../../../catalog/fbc/load.ts';
import { catalogOf, type Package } from '../../../../catalog/fbc/model.ts';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import {
  AS_TODAY,
  type GraphPolicy,
  skipsNoStop,
  stopsAmong,
} from '../../../../catalog/olm/suggest/policy.ts';
import { channelOf } from '../../../../catalog/olm/suggest/suggested-channel.ts';
import { type Suggestion, suggestGraph } from '../../../../catalog/olm/suggest/suggestion.ts';
import { sourceOf } from '../../../../catalog/source.ts';
import { Undecided } from '../../../../catalog/undecided.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { runs } from '../../../fakes/runs.ts';
import { anyPackage, catalogFrom, soundPackage, type WrittenPackage } from '../universe.ts';

/** Random packages; SUGGESTIONS asks for more. */
const RUNS = Number(process.env['SUGGESTIONS'] ?? runs(60).numRuns);

async function suggest(
  written: WrittenPackage,
  policy: Partial<GraphPolicy> = {},
  others: Readonly<Record<string, WrittenPackage>> = {},
): Promise<Suggestion> {
  const catalog = await catalogFrom({ p: written, ...others });
  const ofPackage = catalog.packages.get('p');
  if (!ofPackage) throw new Error('the package is missing');
  return suggestGraph(await worldOf({ name: 'cat', catalog }), ofPackage, { ...AS_TODAY, ...policy });
}

/** The entries of a channel in short. */
function entriesOf({ channels }: Suggestion, channel = 'a'): object[] {
  const found = channels.find(({ name }) => name === channel);
  return (found?.entries ?? []).map(({ name, replaces, skips, skipRange }) => ({
    name,
    ...(replaces === '' ? {} : { replaces }),
    ...(skips.length === 0 ? {} : { skips }),
    ...(skipRange === '' ? {} : { skipRange }),
  }));
}

function strandedText({ stranded }: Suggestion): string[] {
  return stranded.suggested.map(({ olm, channel, installed }) => `${olm} ${channel} ${installed.name}`);
}

const RANGED: WrittenPackage = {
  versions: ['1.0.0', '1.1.0', '1.2.0'],
  channels: {
    a: [
      { name: 'p.v1.0.0' },
      { name: 'p.v1.1.0', replaces: 'p.v1.0.0' },
      { name: 'p.v1.2.0', replaces: 'p.v1.1.0', skipRange: '>=1.0.0 <1.2.0' },
    ],
  },
};

const CHAIN: WrittenPackage = {
  versions: ['1.0.0', '1.0.1', '1.1.0', '1.1.1', '2.0.0'],
  channels: {
    a: [
      { name: 'p.v1.0.0' },
      { name: 'p.v1.0.1', replaces: 'p.v1.0.0' },
      { name: 'p.v1.1.0', replaces: 'p.v1.0.1' },
      { name: 'p.v1.1.1', replaces: 'p.v1.1.0' },
      { name: 'p.v2.0.0', replaces: 'p.v1.1.1' },
    ],
  },
};

describe('suggestGraph', () => {
  test('leaves the head alone where its range takes all others', async () => {
    const suggestion = await suggest(RANGED);
    expect(entriesOf(suggestion)).toEqual([
      { name: 'p.v1.2.0', replaces: 'p.v1.1.0', skipRange: '>=1.0.0 <1.2.0' },
    ]);
    expect(suggestion.channels[0]?.atLeast).toBe(1);
    expect(suggestion.dropped).toEqual(['p.v1.0.0', 'p.v1.1.0']);
    expect(suggestion.newUpgrades).toEqual([]);
  });

  test('keeps every step that has no other way today', async () => {
    expect(entriesOf(await suggest(CHAIN)).map((entry) => (entry as { name: string }).name)).toEqual([
      'p.v1.0.1',
      'p.v1.1.0',
      'p.v1.1.1',
      'p.v2.0.0',
    ]);
  });

  test('stops at the newest patch of each minor version, at each major one, or nowhere', async () => {
    expect(entriesOf(await suggest(CHAIN, { stops: 'minor' }))).toEqual([
      { name: 'p.v1.0.1', replaces: 'p.v1.0.0' },
      { name: 'p.v1.1.1', replaces: 'p.v1.0.1', skips: ['p.v1.1.0'] },
      { name: 'p.v2.0.0', replaces: 'p.v1.1.1' },
    ]);
    expect(entriesOf(await suggest(CHAIN, { stops: 'major' }))).toEqual([
      { name: 'p.v1.1.1', skipRange: '>=1.0.0 <1.1.1' },
      { name: 'p.v2.0.0', replaces: 'p.v1.1.1' },
    ]);
    expect(entriesOf(await suggest(CHAIN, { stops: 'none' }))).toEqual([
      { name: 'p.v2.0.0', skipRange: '>=1.0.0 <2.0.0' },
    ]);
  });

  test('finds the version of a name that has that of something else before it', async () => {
    const skipping = (name: string): WrittenPackage => ({
      ...CHAIN,
      channels: {
        a: (CHAIN.channels['a'] ?? []).map((one) =>
          one.name === 'p.v2.0.0' ? { ...one, skips: [name] } : one,
        ),
      },
    });
    for (const name of ['p.v1.0.5', 'p-4.18.0.v1.0.5']) {
      const suggestion = await suggest(skipping(name), { stops: 'minor' });
      expect(entriesOf(suggestion)).toContainEqual({
        name: 'p.v1.1.1',
        replaces: 'p.v1.0.1',
        skips: [name, 'p.v1.1.0'],
      });
    }
  });

  test('keeps what else the blob of a channel has', async () => {
    const entries = RANGED.channels['a'];
    const blobs = [
      { schema: 'olm.package', name: 'p', defaultChannel: 'a' },
      { schema: 'olm.channel', package: 'p', name: 'a', Entries: entries, 'example.com/team': 'x' },
      ...RANGED.versions.map((version) => ({
        schema: 'olm.bundle',
        package: 'p',
        name: `p.v${version}`,
        image: 'q.io/a/b:1',
        properties: [{ type: 'olm.package', value: { packageName: 'p', version } }],
      })),
    ];
    const file = blobs.map((one) => JSON.stringify(one)).join('\n');
    const catalog = catalogOf((await load(sourceOf({ file }))).blobs);
    const ofPackage = catalog.packages.get('p') as Package;
    const { channels } = suggestGraph(await worldOf({ name: 'cat', catalog }), ofPackage, AS_TODAY);
    const [channel] = channels.map((one) => channelOf(ofPackage, one));
    expect(channel?.entries.length).toBeLessThan(entries?.length ?? 0);
    expect(channel?.value).toMatchObject({ 'example.com/team': 'x' });
    expect(channel?.value).not.toHaveProperty('Entries');
  });

  test('takes a channel of released versions as the default one of new channels', async () => {
    const channels = ['minor', 'candidate'] as const;
    expect((await suggest(CHAIN, { channels })).defaultChannel).toBe('stable-v2.0');
    expect((await suggest(CHAIN, { channels: ['candidate'] })).defaultChannel).toBe('candidate');
  });

  test('stops at a required version, and keeps the newest patch of a supported minor version', async () => {
    const required = [parseVersion('1.1.0')];
    expect(entriesOf(await suggest(CHAIN, { stops: 'none', required }))).toEqual([
      { name: 'p.v1.1.0', skipRange: '>=1.0.0 <1.1.0' },
      { name: 'p.v2.0.0', replaces: 'p.v1.1.0', skips: ['p.v1.1.1'] },
    ]);
    expect(entriesOf(await suggest(CHAIN, { stops: 'none', supported: [{ major: 1, minor: 0 }] }))).toEqual([
      { name: 'p.v1.0.1' },
      { name: 'p.v2.0.0', replaces: 'p.v1.0.1', skipRange: '>=1.0.0 <2.0.0' },
    ]);
  });

  test('leads around a version that nobody may install, and says who can go nowhere', async () => {
    const around = await suggest(CHAIN, { avoid: new Set(['p.v1.1.0']) });
    expect(entriesOf(around)).toEqual([
      { name: 'p.v1.0.1', replaces: 'p.v1.0.0' },
      { name: 'p.v1.1.1', replaces: 'p.v1.0.1', skips: ['p.v1.1.0'] },
      { name: 'p.v2.0.0', replaces: 'p.v1.1.1' },
    ]);
    expect(strandedText(around)).toEqual([]);
    const head = await suggest(CHAIN, { avoid: new Set(['p.v2.0.0']) });
    expect(entriesOf(head).at(-1)).toEqual({ name: 'p.v1.1.1', replaces: 'p.v1.1.0' });
    expect(strandedText(head)).toEqual(['v0 a p.v2.0.0', 'v1 a p.v2.0.0', 'v1  p.v2.0.0']);
  });

  test('gives the stranded an upgrade path: a head that skips what it replaces hides it from OLM v0', async () => {
    const suggestion = await suggest({
      versions: ['0.2.0', '0.2.3', '0.3.0'],
      channels: {
        a: [
          { name: 'p.v0.3.0', replaces: 'p.v0.2.3', skips: ['p.v0.2.3'] },
          { name: 'p.v0.2.3', skips: ['p.v0.2.0'] },
          { name: 'p.v0.2.0' },
        ],
      },
    });
    expect(suggestion.stranded.today.length).toBeGreaterThan(0);
    expect(strandedText(suggestion)).toEqual([]);
    expect(suggestion.newUpgrades).toEqual([]);
  });

  test('never upgrades to what others skip, and reaches by range what only a range reaches today', async () => {
    const suggestion = await suggest({
      versions: ['1.0.0', '1.1.0', '1.2.0', '1.3.0'],
      channels: {
        a: [
          { name: 'p.v1.0.0' },
          { name: 'p.v1.1.0', replaces: 'p.v1.0.0', skipRange: '>=0.5.0 <1.1.0' },
          { name: 'p.v1.2.0', replaces: 'p.v1.1.0', skipRange: '>=0.5.0 <1.2.0' },
          { name: 'p.v1.3.0', replaces: 'p.v1.1.0', skips: ['p.v1.2.0'] },
        ],
      },
    });
    expect(entriesOf(suggestion)).toEqual([
      { name: 'p.v1.1.0', replaces: 'p.v1.0.0', skipRange: '>=0.5.0 <1.1.0' },
      { name: 'p.v1.3.0', replaces: 'p.v1.1.0', skips: ['p.v1.2.0'] },
    ]);
  });

  test('keeps what another package requires', async () => {
    const requires = { type: 'olm.package.required', value: { packageName: 'p', versionRange: '=1.1.0' } };
    const others = {
      q: {
        versions: ['1.0.0'],
        channels: { a: [{ name: 'q.v1.0.0' }] },
        properties: { '1.0.0': [requires] },
      },
    };
    const suggestion = await suggest(RANGED, {}, others);
    expect(suggestion.dropped).toEqual(['p.v1.0.0']);
  });

  test('changes only edges where all entries are to stay', async () => {
    const suggestion = await suggest(CHAIN, { stops: 'none', keep: 'all' });
    expect(suggestion.dropped).toEqual([]);
    expect(entriesOf(suggestion).at(-1)).toEqual({
      name: 'p.v2.0.0',
      skips: ['p.v1.0.0', 'p.v1.0.1', 'p.v1.1.0', 'p.v1.1.1'],
    });
    expect(strandedText(suggestion)).toEqual([]);
  });

  test('leaves a channel as it is where two bundles have one version, and says so', async () => {
    const { channels } = await suggest({
      versions: ['1.0.0', '1.0.0+01'],
      channels: { a: [{ name: 'p.v1.0.0' }, { name: 'p.v1.0.0+01', replaces: 'p.v1.0.0' }] },
    });
    expect(channels[0]?.why).toBe('the bundles p.v1.0.0 and p.v1.0.0+01 have the same version');
  });

  const anyPolicy = fc.record({
    stops: fc.constantFrom('today' as const, 'minor' as const, 'major' as const, 'none' as const),
    keep: fc.constantFrom('needed' as const, 'all' as const),
  });

  test('strands nobody who has an upgrade path today, and has no more entries', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyPackage, soundPackage), anyPolicy, async (written, policy) => {
        const suggestion = await suggest(written, policy);
        const today = new Set(
          suggestion.stranded.today.map(
            ({ olm, channel, installed }) => `${olm} ${channel} ${installed.name}`,
          ),
        );
        for (const one of strandedText(suggestion)) expect(today).toContain(one);
        for (const channel of suggestion.channels) {
          expect(channel.entries.length).toBeLessThanOrEqual(channel.today);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('keeps to the direct upgrades of today where nobody is stranded', async () => {
    await fc.assert(
      fc.asyncProperty(soundPackage, async (written) => {
        const suggestion = await suggest(written);
        if (suggestion.stranded.today.length === 0) expect(suggestion.newUpgrades).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test('writes no edge that passes a required stop by, and only channels that opm accepts', async () => {
    await fc.assert(
      fc.asyncProperty(
        soundPackage,
        fc.constantFrom('minor' as const, 'major' as const),
        async (written, stops) => {
          const catalog = await catalogFrom({ p: written });
          const ofPackage = catalog.packages.get('p');
          if (!ofPackage) throw new Error('the package is missing');
          const policy = { ...AS_TODAY, stops };
          const { channels } = suggestGraph(await worldOf({ name: 'cat', catalog }), ofPackage, policy);
          const bundles = [...ofPackage.bundles.values()];
          // What an entry skips has been withdrawn: nobody stops there.
          const skipped = new Set(
            Object.values(written.channels).flatMap((entries) => entries.flatMap(({ skips = [] }) => skips)),
          );
          const versions = bundles.flatMap(({ name, version }) =>
            version && !skipped.has(name) ? [version] : [],
          );
          const passes = skipsNoStop(stopsAmong(versions, policy));
          for (const channel of channels.filter(({ why }) => why === undefined)) {
            const made = channelOf(ofPackage, channel);
            const head = headOf(made);
            expect(head && chainBelow(made, head).stranded).toEqual([]);
            for (const entry of made.entries) {
              const to = ofPackage.bundles.get(entry.name)?.version;
              const bad = bundles.filter(
                (bundle) => bundle.version && to && edgeField(entry, bundle) && !passes(bundle.version, to),
              );
              expect(bad.map(({ name }) => name)).toEqual([]);
            }
          }
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('keep: all', () => {
  const ofHead = (head: object): WrittenPackage => ({
    versions: ['1.0.0', '1.1.0', '2.0.0'],
    channels: { a: [{ name: 'p.v1.0.0' }, { name: 'p.v2.0.0' }, { name: 'p.v1.1.0', ...head }] },
  });

  test('keeps an entry that the head leads down', async () => {
    const led = await suggest(ofHead({ replaces: 'p.v1.0.0', skips: ['p.v2.0.0'] }), { keep: 'all' });
    expect(led.dropped).toEqual([]);
    expect(
      entriesOf(led)
        .map((entry) => (entry as { name: string }).name)
        .sort(),
    ).toEqual(['p.v1.0.0', 'p.v1.1.0', 'p.v2.0.0']);
  });

  test('removes no entry of any package', async () => {
    await fc.assert(
      fc.asyncProperty(anyPackage, async (written) => {
        const { channels } = await suggest(written, { keep: 'all' });
        for (const { name, entries } of channels)
          expect(entries.map((one) => one.name).sort()).toEqual(
            (written.channels[name] ?? []).map((one) => one.name).sort(),
          );
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a package with too many versions to compare', () => {
  const versions = Array.from({ length: 30 }, (_, i) => `1.${i}.0`);
  const entries = versions.map((version, i) => ({ name: `p.v${version}`, skipRange: `>=0.1.0 <1.${i}.0` }));
  const written = { versions, channels: { a: entries, b: entries } };
  const suggested = async (pairs: number, policy: Partial<GraphPolicy> = {}): Promise<Suggestion> => {
    const catalog = await catalogFrom({ p: written });
    const ofPackage = catalog.packages.get('p') as Package;
    const world = await worldOf({ name: 'cat', catalog });
    return suggestGraph(world, ofPackage, { ...AS_TODAY, ...policy }, { left: 1e6, pairs });
  };

  test('45: leaves the channels as they are that it cannot plan, and says so', async () => {
    const why = 'it has too many versions to compare all pairs';
    const [a, b] = (await suggested(30 * 30)).channels;
    expect([a?.why, a?.entries.length]).toEqual([undefined, 1]);
    expect([b?.why, b?.entries.length]).toEqual([why, 30]);
  });

  test('45: has no new channels', async () => {
    const asked = suggested(30 * 30 - 1, { channels: ['stable'], stops: 'minor' });
    await expect(asked).rejects.toThrow(
      new Undecided('the upgrades of package "p"', 'it has too many versions to compare all pairs'),
    );
  });
});
