// Runs every conformance set and compares the cases that differ with the list of those that are known to.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const KNOWN = 'test/conformance/differing.txt';
const sets = spawnSync('npm', ['run', '-s', 'conformance', '--', '--list'], { encoding: 'utf8' })
  .stdout.trim()
  .split('\n');
const known = new Set(
  existsSync(KNOWN)
    ? readFileSync(KNOWN, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
    : [],
);

let sound = true;
const differing = new Set();
for (const set of sets) {
  const { stdout, stderr } = spawnSync('npm', ['run', '-s', 'conformance', '--', set], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const lines = stdout.trim().split('\n');
  const closing = lines.at(-1) ?? '';
  if (!/^\S+: \d+ agree, \d+ differ, \d+ skipped$/.test(closing) || / 0 agree, 0 differ, /.test(closing)) {
    process.stdout.write(`${set} did not run:\n${stdout}${stderr}\n`);
    sound = false;
    continue;
  }
  console.log(closing);
  for (const line of lines) {
    const name = /^differs: (\S+?):?(?: |$)/.exec(line)?.[1];
    if (name !== undefined) differing.add(`${set}/${name}`);
  }
}
for (const name of differing) {
  if (known.has(name)) continue;
  console.log(`differs, and is not in ${KNOWN}: ${name}`);
  sound = false;
}
for (const name of known) {
  if (differing.has(name)) continue;
  console.log(`agrees, and must leave ${KNOWN}: ${name}`);
  sound = false;
}
process.exit(sound ? 0 : 1);
