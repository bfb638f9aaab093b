// Asks a deployed stack whether it can publish: node scripts/smoke-functions.mjs [STACK]; exits with 1 if it cannot.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [stack = 'portolan'] = process.argv.slice(2);

/** @returns what `aws` printed */
const aws = (...words) => execFileSync('aws', [...words, '--output', 'json'], { encoding: 'utf8' });

const { Stacks } = JSON.parse(aws('cloudformation', 'describe-stacks', '--stack-name', stack));
const work = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'Work')?.OutputValue;
if (work === undefined) fail(`the stack ${stack} has no output Work: deploy it again`);
const scratch = mkdtempSync(join(tmpdir(), 'portolan-smoke-'));
try {
  const answer = join(scratch, 'answer.json');
  // From a file: versions 1 and 2 of the AWS CLI read words in different ways.
  const asked = join(scratch, 'asked.json');
  writeFileSync(asked, '{"smoke":true}');
  const payload = ['--payload', `fileb://${asked}`];
  aws('lambda', 'invoke', '--function-name', work, ...payload, '--cli-read-timeout', '600', answer);
  const { ok, checks, errorMessage } = JSON.parse(readFileSync(answer, 'utf8'));
  for (const { what, ok: is, why } of checks ?? [])
    console.log(`${is ? 'ok  ' : 'FAIL'}  ${what}${is ? '' : `: ${why}`}`);
  if (ok !== true) fail(errorMessage ?? `the stack ${stack} cannot publish`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Ends with 1, and says why. */
function fail(why) {
  console.error(why);
  process.exit(1);
}
