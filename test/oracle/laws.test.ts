/**
 * Two laws about merges, with an oracle that shares no code with the rules:
 *
 * 1. A merge after which any installation is worse off has an error of a rule about graphs, or, for the classes of harm
 *    that docs/foresight.md lists, a warning of the rule that it names.
 * 2. A merge after which none is worse off has no error of such a rule.
 *
 * `node scripts/run.mjs test/oracle/main.ts SEED MERGES` tries others.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../fakes/runs.ts';
import { graphFindings } from './graph-errors.ts';
import { story } from './story.ts';
import { type Judged, judge, smallest, textOf, violationOf } from './tally.ts';

const tried = { ...runs(300), seed: 36 };
const findingsOf = graphFindings();
const judged: Judged[] = [];

test('a merge has an error exactly if somebody is worse off', async () => {
  for (const one of fc.sample(story, tried)) judged.push(await judge(one, findingsOf));
  const wrong = judged.findIndex((one) => violationOf(one) !== undefined);
  expect(wrong < 0 ? '' : textOf(await smallest({ seed: tried.seed, number: wrong }, findingsOf))).toBe('');
});

test('of the merges that are tried, many leave somebody worse off and many leave nobody', () => {
  const worse = judged.filter((one) => one.worse.length > 0);
  expect(worse.length).toBeGreaterThan(judged.length / 5);
  expect(worse.length).toBeLessThan((judged.length * 4) / 5);
});
