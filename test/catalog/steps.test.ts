/** What a check of a catalog costs, in steps: blocks of code that are run, as the engine counts them. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtFile } from '../fakes/built.ts';
import type { States } from '../fakes/check-steps.ts';
import { PACKAGE, type WrittenEntry, type WrittenPackage, written } from './olm/universe.ts';

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
  'channels in which each version skips the one before, so that none has an upgrade': (count) => ({
    versions: versions(count),
    channels: inChannels(count / 2, (channel) =>
      names(0, count - (channel % 3)).map((its, at) => ({ name: its, skips: names(at - 1, at) })),
    ),
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
const COUNTS: Readonly<Record<string, number>> = {
  'channels of one version each': 210,
  'channels in which each version skips the one before, so that none has an upgrade': 24,
};
const COUNT = 30;

/** Graphs that somebody writes anew, so that the upgrades of all versions change. */
const REWRITTEN: Readonly<Record<string, (count: number) => WrittenEntry[]>> = {
  'entries that skip all earlier ones': (count) => chain(count, (at) => ({ skips: names(0, at) })),
  'entries that skip what they replace': (count) => chain(count, (at) => ({ skips: names(at - 12, at) })),
  'entries with an open skipRange': (count) => chain(count, () => ({ skipRange: '>=0.0.1' })),
};
const MANY = 100;

/** A doubled input may cost so many times as much. */
const DOUBLED = 2.3;

describe('steps of a check', () => {
  let thread: Worker;
  beforeAll(() => {
    thread = new Worker(builtFile("import './test/fakes/check-steps.ts';"));
  });
  afterAll(() => thread.terminate());

  async function checked(states: States): Promise<{ readonly steps: number; readonly bytes: number }> {
    thread.postMessage(states);
    const [steps] = (await once(thread, 'message')) as [number];
    return { steps, bytes: written(states.after).length };
  }

  /** Checks the change of so many versions, and of twice as many. */
  async function expectGrowth(count: number, statesOf: (count: number) => States): Promise<void> {
    const [single, double] = [await checked(statesOf(count)), await checked(statesOf(2 * count))];
    const doublings = Math.log2(double.bytes / single.bytes);
    expect(single.steps).toBeGreaterThan(10_000);
    expect((double.steps / single.steps) ** (1 / doublings)).toBeLessThan(DOUBLED);
  }

  test.each(Object.entries(INPUTS))('grow with %s, and one more', async (what, make) => {
    await expectGrowth(COUNTS[what] ?? COUNT, (count) => ({ before: make(count - 1), after: make(count) }));
  });

  test.each(Object.entries(REWRITTEN))('grow with a chain of which all becomes %s', async (_, entries) => {
    const of = (count: number, c: readonly WrittenEntry[]): ReturnType<Make> => ({
      [PACKAGE]: { versions: versions(count), channels: { c } },
    });
    await expectGrowth(MANY, (count) => ({
      before: of(count, chain(count)),
      after: of(count, entries(count)),
    }));
  });
});
