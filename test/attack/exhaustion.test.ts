/**
 * Attack 45 by real pull requests: catalogs whose size is within all limits, and that ask for as much work as anybody found.
 * Each is read to its end, or inconclusive for a reason that is said: never a pass, and never longer than the limit.
 */
import { expect, onTestFinished, test } from 'vitest';
import { confinedCheck } from '../../pipeline/check/confined/confined-check.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { readerFile } from '../fakes/built.ts';
import { EXHAUSTING } from '../fakes/exhausting.ts';
import { BASE } from '../fakes/gate.ts';
import { makeRepository } from '../fakes/repository.ts';

/** A part of what the gates have: enough for each shape to be read, or to be ended. */
const LIMITS = {
  seconds: Number(process.env['EXHAUSTION_SECONDS'] ?? 8),
  memory: Number(process.env['EXHAUSTION_MEMORY'] ?? 1024),
};
/** Starting processes, and reading what a check needs besides. */
const MORE_SECONDS = 20;

const READER = readerFile();

test.each(Object.entries(EXHAUSTING))('45: %s', async (name, filesOf) => {
  const made = makeRepository();
  onTestFinished(() => made.remove());
  const [base = '', head = ''] = made.chain(BASE, filesOf());
  const repository = await openRepository(made.directory, { searchPath: process.env['PATH'] });
  onTestFinished(() => repository.close());
  const check = confinedCheck({ file: READER, words: [], log: () => undefined, ...LIMITS });
  const began = performance.now();
  const report = await check(repository, { base, head, today: '2026-01-01' });
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(`${name}: ${seconds.toFixed(1)} s, ${report.verdict}: ${report.headline}\n`);
  expect(seconds).toBeLessThan(LIMITS.seconds + MORE_SECONDS);
  expect(report.verdict).not.toBe('pass');
  if (report.verdict === 'inconclusive')
    expect(report.headline).toMatch(/it (?:took|needed) more than \d+ (?:s|MiB)|: dependencies in /);
  else expect(report.packages.length).toBeGreaterThan(0);
});
