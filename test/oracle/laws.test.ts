/**
 * Two laws about merges, with an oracle that shares no code with the rules:
 *
 * 1. A merge after which any installation is worse off has an error of a rule about graphs.
 * 2. A merge after which none is worse off has no error of such a rule.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../fakes/runs.ts';
import { type Story, statesOf, story } from './edits.ts';
import { graphErrors } from './graph-errors.ts';
import { type WorseOff, worseOff } from './oracle.ts';

const errorsAfter = graphErrors();

/** The rules that fail a merge. */
async function errorsOf(one: Story): Promise<readonly string[]> {
  return (await errorsAfter(statesOf(one))).map(({ rule }) => rule);
}

function harmOf(one: Story): readonly WorseOff[] {
  const states = statesOf(one);
  return worseOff(states.slice(0, -1), states.at(-1) ?? {});
}

/** How many merges are tried, and from where: as usual, or as somebody asks who looks for more. */
function tried(): { readonly numRuns: number; readonly seed?: number } {
  const { ORACLE_RUNS: asked, ORACLE_SEED: seed = '36' } = process.env;
  return asked === undefined ? { ...runs(300), seed: 36 } : { numRuns: Number(asked), seed: Number(seed) };
}

test('a merge has an error exactly if somebody is worse off', () =>
  fc.assert(
    fc.asyncProperty(story, async (one) => {
      const worse = harmOf(one);
      const errors = await errorsOf(one);
      if (worse.length === 0) expect(errors).toEqual([]);
      else if (errors.length === 0) expect(worse).toEqual([]);
    }),
    tried(),
  ));

test('of the merges that are tried, many leave somebody worse off and many leave nobody', () => {
  const stories = fc.sample(story, tried());
  const worse = stories.filter((one) => harmOf(one).length > 0);
  expect(worse.length).toBeGreaterThan(stories.length / 5);
  expect(worse.length).toBeLessThan(stories.length / 2);
});
