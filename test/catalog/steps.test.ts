/** What a check of a catalog costs, in steps: blocks of code that are run, as the engine counts them. */
import { Session } from 'node:inspector/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE, type WrittenEntry, type WrittenPackage } from './olm/universe.ts';

/** Packages of so many versions. */
type Make = (count: number) => Readonly<Record<string, WrittenPackage>>;

const name = (at: number): string => `p.v1.${at}.0`;
const versions = (count: number): string[] => Array.from({ length: count }, (_, at) => `1.${at}.0`);
const chain = (count: number, more: (at: number) => Partial<WrittenEntry> = () => ({})): WrittenEntry[] =>
  Array.from({ length: count }, (_, at) => ({
    name: name(at),
    ...(at > 0 ? { replaces: name(at - 1) } : {}),
    ...more(at),
  }));
const names = (from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - Math.max(0, from)) }, (_, i) => name(Math.max(0, from) + i));
const inChannels = (
  count: number,
  entries: (at: number) => readonly WrittenEntry[],
): WrittenPackage['channels'] =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, entries(at)]));

/** Packages that require each other, from the version that a function says on. */
const entangled = (count: number, least: (at: number) => string): ReturnType<Make> => {
  const packages = ['p', 'q', 'r', 's', 't', 'u'];
  const requires = (ofPackage: string, at: number): { type: string; value: unknown }[] =>
    packages
      .filter((one) => one !== ofPackage)
      .map((packageName) => ({
        type: 'olm.package.required',
        value: { packageName, versionRange: `>=${least(at)}` },
      }));
  return Object.fromEntries(
    packages.map((one) => [
      one,
      {
        versions: versions(count),
        channels: {
          c: chain(count).map(({ name: its, replaces }) => ({
            name: its.replace('p', one),
            ...(replaces ? { replaces: replaces.replace('p', one) } : {}),
          })),
        },
        properties: Object.fromEntries(versions(count).map((version, at) => [version, requires(one, at)])),
      },
    ]),
  );
};

/** Inputs of one package. */
const OF_ONE: Readonly<Record<string, (count: number) => WrittenPackage>> = {
  'entries with replaces': (count) => ({ versions: versions(count), channels: { c: chain(count) } }),
  'entries that skip all earlier ones': (count) => ({
    versions: versions(count),
    channels: { c: chain(count, (at) => ({ skips: names(0, at) })) },
  }),
  'entries that skip some, so that versions are stuck': (count) => ({
    versions: versions(count),
    channels: { c: chain(count, (at) => ({ skips: names(at - 21, at - 1) })) },
  }),
  'entries with an open skipRange': (count) => ({
    versions: versions(count),
    channels: { c: chain(count, () => ({ skipRange: '>=0.0.1' })) },
  }),
  'channels of the same versions': (count) => ({
    versions: versions(20),
    channels: inChannels(count, () => chain(20)),
  }),
  'channels and versions': (count) => ({
    versions: versions(count),
    channels: inChannels(count, () => chain(count)),
  }),
  'channels of one version each': (count) => ({
    versions: versions(count),
    channels: inChannels(count, (at) => [{ name: name(at) }]),
  }),
};

const INPUTS: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(
    Object.entries(OF_ONE).map(([what, make]): [string, Make] => [
      what,
      (count) => ({ [PACKAGE]: make(count) }),
    ]),
  ),
  'packages that require each other': (count) => entangled(count, () => '1.0.0'),
};

/** Versions or channels. One rule compares each head of a channel with each other, but not more than 200. */
const COUNTS: Readonly<Record<string, number>> = { 'channels of one version each': 210 };
const COUNT = 40;

/** A doubled input may cost so many times as much. */
const DOUBLED = 2.3;

describe('steps of a check', () => {
  const session = new Session();
  beforeAll(async () => {
    session.connect();
    await session.post('Profiler.enable');
    // What is compiled before is not counted by blocks.
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  });
  afterAll(() => session.disconnect());

  async function steps(): Promise<number> {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const own = result.filter(({ url }) => /\/catalog\/(?!.*test)/.test(url));
    const ranges = own.flatMap(({ functions }) => functions.flatMap((one) => one.ranges));
    return ranges.reduce((sum, { count }) => sum + count, 0);
  }

  /** Adds a version to a package of so many. */
  async function checked(
    make: Make,
    count: number,
  ): Promise<{ readonly steps: number; readonly bytes: number }> {
    const { catalogFrom, written } = await import('./olm/universe.ts');
    const { changeOf } = await import('../../catalog/olm/foresight/world.ts');
    const { diffOf } = await import('../../catalog/olm/diff.ts');
    const { runComparison, runForesight } = await import('../../catalog/rules/rule.ts');
    const { RULES } = await import('../../catalog/rules/index.ts');
    const [before, after] = [count - 1, count].map(make);
    const change = await changeOf(
      { name: 'cat', catalog: await catalogFrom(before ?? {}) },
      { name: 'cat', catalog: await catalogFrom(after ?? {}) },
    );
    await steps();
    runComparison(change, RULES);
    runForesight(change.after, RULES);
    runForesight(change.before, RULES);
    diffOf(change);
    return { steps: await steps(), bytes: written(after ?? {}).length };
  }

  test.each(Object.entries(INPUTS))('grow with %s', async (what, make) => {
    const count = COUNTS[what] ?? COUNT;
    const [once, twice] = [await checked(make, count), await checked(make, 2 * count)];
    const doublings = Math.log2(twice.bytes / once.bytes);
    expect(once.steps).toBeGreaterThan(10_000);
    expect((twice.steps / once.steps) ** (1 / doublings)).toBeLessThan(DOUBLED);
  });
});
