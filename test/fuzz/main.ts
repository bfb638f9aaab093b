/** npm run fuzz -- [RUNS] [TARGET …]: fuzzes targets for long, and prints a table of what it found. */
import { fuzz } from './mutations.ts';
import { TARGETS } from './targets.ts';
import { Random } from './yaml-documents.ts';

const [runs = '100000', ...names] = process.argv.slice(2);
const STRETCH = 20_000;
/** Failures after which a target is left. */
const MOST_FAILURES = 5;
console.log('target | inputs | failures | seconds of CPU');
for (const name of names.length > 0 ? names : Object.keys(TARGETS)) {
  const before = process.cpuUsage();
  const failures: string[] = [];
  let done = 0;
  for (; done < Number(runs) && failures.length < MOST_FAILURES; done += STRETCH) {
    const seed = Math.floor(Math.random() * 2 ** 32);
    await fuzz(name, Math.min(STRETCH, Number(runs) - done), new Random(seed)).catch((error: Error) =>
      failures.push(error.message),
    );
  }
  const { user, system } = process.cpuUsage(before);
  console.log(
    [name, Math.min(done, Number(runs)), failures.length, ((user + system) / 1e6).toFixed(1)].join(' | '),
  );
  for (const failure of failures) console.log(`  ${failure}`);
}
