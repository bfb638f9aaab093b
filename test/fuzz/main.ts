/**
 * npm run fuzz -- [RUNS] [TARGET …]: fuzzes targets for long, and prints a table of what it found. With `FUZZ_SEED` the
 * inputs are the same each time; a line for each million says how far it is, and so where it would hang.
 */
import { fuzz } from './mutations.ts';
import { TARGETS } from './targets.ts';
import { Random } from './yaml-documents.ts';

const [runs = '100000', ...names] = process.argv.slice(2);
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const STRETCH = 20_000;
/** After so many inputs, it says how far it is. */
const NEWS = 1_000_000;
/** Failures after which a target is left. */
const MOST_FAILURES = 5;
console.log(`seed ${SEED}`);
console.log('target | inputs | failures | of them over 1 s | seconds of CPU');
for (const name of names.length > 0 ? names : Object.keys(TARGETS)) {
  const before = process.cpuUsage();
  const failures: string[] = [];
  const line = (done: number): string => {
    const { user, system } = process.cpuUsage(before);
    const slow = failures.filter((failure) => failure.includes(' µs for ')).length;
    return [name, done, failures.length, slow, ((user + system) / 1e6).toFixed(1)].join(' | ');
  };
  let done = 0;
  while (done < Number(runs) && failures.length < MOST_FAILURES) {
    const inputs = Math.min(STRETCH, Number(runs) - done);
    // Neighbouring stretches have different seeds, and the same ones each time.
    const random = new Random((SEED + done / STRETCH) % 2 ** 32);
    await fuzz(name, inputs, random).catch((error: Error) => failures.push(error.message));
    done += inputs;
    if (done % NEWS === 0 && done < Number(runs)) console.log(`  at ${line(done)}`);
  }
  console.log(line(done));
  for (const failure of failures) console.log(`  ${failure}`);
}
