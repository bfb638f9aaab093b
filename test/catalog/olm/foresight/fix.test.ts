import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { installedOf } from '../../../../catalog/fbc/edge.ts';
import { fixFor } from '../../../../catalog/olm/foresight/fix.ts';
import type { Fix } from '../../../../catalog/olm/foresight/fix-edits.ts';
import { installationsOf } from '../../../../catalog/olm/foresight/installation.ts';
import { type World, worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { runs } from '../../../fakes/runs.ts';
import { applied } from '../../../fakes/written-fix.ts';
import {
  anyPackage,
  bundleName,
  catalogFrom,
  PACKAGE,
  type WrittenEntry,
  type WrittenPackage,
} from '../universe.ts';

async function world(written: WrittenPackage): Promise<World> {
  return worldOf({ name: 'cat', catalog: await catalogFrom({ [PACKAGE]: written }) });
}

function stuckAt(...versions: string[]) {
  const installed = versions.map((version) => ({
    name: bundleName(version),
    version: parseVersion(version),
  }));
  return { package: PACKAGE, channel: 'a', olm: 'v0' as const, installed };
}

const entry = (version: string, more: Omit<WrittenEntry, 'name'> = {}): WrittenEntry => ({
  name: bundleName(version),
  ...more,
});

describe('fixFor', () => {
  test('takes a name out of skips where it is replaced as well', async () => {
    const written = {
      versions: ['1.0.0', '1.1.0', '1.2.0'],
      channels: {
        a: [
          entry('1.2.0', { replaces: bundleName('1.1.0'), skips: [bundleName('1.1.0')] }),
          entry('1.1.0', { skips: [bundleName('1.0.0')] }),
          entry('1.0.0'),
        ],
      },
    };
    const fix = fixFor(await world(written), stuckAt('1.0.0'));
    expect(fix?.text).toBe('in the entry of p.v1.2.0 remove p.v1.1.0 from skips (it is already in replaces)');
    expect(fix?.index).toBe(0);
  });

  test('links a head that replaces nothing', async () => {
    const fix = fixFor(
      await world({ versions: ['2.0.0'], channels: { a: [entry('2.0.0')] } }),
      stuckAt('1.0.0'),
    );
    expect(fix?.text).toBe('in the entry of p.v2.0.0 set replaces: p.v1.0.0');
  });

  test('skips what has no road, keeping what is skipped', async () => {
    const head = entry('2.0.0', { replaces: bundleName('1.1.0'), skips: [bundleName('0.9.0')] });
    const written = {
      versions: ['2.0.0', '1.1.0'],
      channels: { a: [head, entry('1.1.0', { replaces: 'gone' })] },
    };
    const fix = fixFor(await world(written), stuckAt('1.0.0', '1.0.1'));
    expect(fix?.text).toBe('in the entry of p.v2.0.0 set skips: [p.v0.9.0, p.v1.0.0, p.v1.0.1]');
  });

  test('never leads down: what is newer than the head is restored', async () => {
    const before = {
      versions: ['1.0.0', '2.0.0'],
      channels: { a: [entry('2.0.0', { replaces: bundleName('1.0.0') }), entry('1.0.0')] },
    };
    const after = { versions: ['1.0.0'], channels: { a: [entry('1.0.0')] } };
    expect(fixFor(await world(after), stuckAt('2.0.0'))).toBeUndefined();
    expect(fixFor(await world(after), stuckAt('2.0.0'), await world(before))?.text).toBe(
      'restore the entry of p.v2.0.0: - {name: p.v2.0.0, replaces: p.v1.0.0}',
    );
  });

  const chain = [
    entry('1.2.0', { replaces: bundleName('1.1.0') }),
    entry('1.1.0', { replaces: bundleName('1.0.0') }),
    entry('1.0.0'),
  ];
  const past = { versions: ['1.0.0', '1.1.0', '1.2.0'], channels: { a: chain } };

  test('keeps a version that clusters must pass: the link that is skipped is restored', async () => {
    const head = entry('1.2.1', { replaces: bundleName('1.2.0'), skips: [bundleName('1.1.0')] });
    const skipRange = '>=1.1.0 <1.2.1';
    const written = {
      versions: [...past.versions, '1.2.1'],
      channels: { a: [{ ...head, skipRange }, ...chain] },
    };
    const fix = fixFor(await world(written), stuckAt('1.0.0'), await world(past));
    expect(fix?.text).toBe('in the entry of p.v1.2.1 remove p.v1.1.0 from skips');
  });

  const pruned = {
    versions: ['1.1.0', '1.2.0'],
    channels: { a: [chain[0] as WrittenEntry, entry('1.1.0', { replaces: 'gone' })] },
  };

  test('restores the edge that an entry had', async () => {
    expect(fixFor(await world(pruned), stuckAt('1.0.0'), await world(past))?.text).toBe(
      'in the entry of p.v1.1.0 set replaces: p.v1.0.0',
    );
  });

  test('proposes no jump over a version that clusters had to pass', async () => {
    const first = entry('1.0.0', { replaces: bundleName('0.9.0') });
    const longer = {
      versions: ['0.9.0', ...past.versions],
      channels: { a: [...chain.slice(0, 2), first, entry('0.9.0')] },
    };
    const stuck = stuckAt('0.9.0', '1.0.0');
    expect(fixFor(await world(pruned), stuck, await world(longer))).toBeUndefined();
    // Twin: the catalog no longer has what they had to pass.
    const alone = { versions: ['1.2.0'], channels: { a: [entry('1.2.0', { replaces: 'gone' })] } };
    expect(fixFor(await world(alone), stuck, await world(longer))?.text).toBe(
      'in the entry of p.v1.2.0 set skips: [p.v0.9.0, p.v1.0.0, p.v1.1.0]',
    );
  });

  test('proposes nothing where nobody is stuck', async () => {
    expect(
      fixFor(await world({ versions: ['1.0.0'], channels: { a: [entry('1.0.0')] } }), stuckAt('1.0.0')),
    ).toBeUndefined();
  });

  test('what it proposes, written into the channel, brings all to the head and strands nobody', async () => {
    await fc.assert(
      fc.asyncProperty(anyPackage, async (written) => {
        const before = await world(written);
        const place = { package: PACKAGE, channel: 'a' };
        const arrives = (one: World, name: string): boolean => {
          const bundle = before.catalog.packages.get(PACKAGE)?.bundles.get(name);
          return bundle !== undefined && one.foresight.v0(place, installedOf(bundle)).arrives;
        };
        const here = installationsOf(before, PACKAGE).filter(({ channel }) => channel === 'a');
        const stuck = here.filter(({ installed }) => !arrives(before, installed.name));
        if (stuck.length === 0) return;
        const fix = fixFor(before, {
          ...place,
          olm: 'v0',
          installed: stuck.map(({ installed }) => installed),
        });
        if (!fix) return;
        const after = await world(withFix(written, fix));
        for (const { installed } of here)
          expect([fix.text, arrives(after, installed.name)]).toEqual([fix.text, true]);
      }),
      runs(80),
    );
  });
});

/** The package with what the text of a fix says, read as a maintainer would. */
function withFix(written: WrittenPackage, { text }: Fix): WrittenPackage {
  const entries = (written.channels['a'] ?? []).map((one): WrittenEntry => {
    const parts = text.split('; in the entry').filter((part) => part.includes(` of ${one.name} `));
    return parts.reduce(applied, one);
  });
  return { ...written, channels: { ...written.channels, a: entries } };
}
