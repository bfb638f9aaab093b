/**
 * Tries merges, and counts them by class of harm and by rule; made small, those are shown that break a law:
 *
 *     node scripts/run.mjs test/oracle/main.ts SEED MERGES [SHOWN]
 */
import fc from 'fast-check';
import { openGraphRules } from './graph-rules.ts';
import { story } from './story.ts';
import { judge, smallest, tableOf, textOf, violationOf } from './tally.ts';

const [seed = 36, numRuns = 1000, shown = 20] = process.argv.slice(2).map(Number);
const { findingsOf, close } = await openGraphRules();
const judged = [];
for (const one of fc.sample(story, { seed, numRuns })) judged.push(await judge(one, findingsOf));
const { user, system } = process.cpuUsage();
process.stdout.write(
  `${tableOf(judged)}\n\n${Math.round((user + system) / 1000 / numRuns)} ms of CPU for each\n`,
);
const wrong = judged.flatMap((one, number) => (violationOf(one) === undefined ? [] : [number]));
for (const number of wrong)
  process.stdout.write(`merge ${number}: ${judged[number] && violationOf(judged[number])}\n`);
for (const number of wrong.slice(0, shown)) {
  const found = await smallest({ seed, number }, findingsOf);
  process.stdout.write(`\nmerge ${number} of seed ${seed}: ${violationOf(found)}\n${textOf(found)}\n`);
}
await close();
process.exitCode = wrong.length === 0 ? 0 : 1;
