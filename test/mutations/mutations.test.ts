/**
 * That the tests of the attacks test their defences: each defence is taken out of a copy of the sources, one at a
 * time in each copy, and a test of its attack must then fail. A test that stays green guards nothing.
 *
 * MUTATION_MINUTES says how long it may take (120): what has not begun by then is skipped, and named at the end.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MUTATIONS } from './all.ts';
import type { Edit, Mutation } from './mutation.ts';

const SOURCES = [
  '.github',
  'action.yml',
  'catalog',
  'docs',
  'functions',
  'package.json',
  'package-lock.json',
  'pipeline',
  'playground',
  'scripts',
  'test',
  'tsconfig.json',
];
/** The tests mostly wait, as the Action does between what it writes: several copies at once. */
const COPIES = 3;
const END = Date.now() + Number(process.env['MUTATION_MINUTES'] ?? 120) * 60_000;

/** The sources once more, and the vitest that runs their tests. */
interface Copy {
  readonly root: string;
  /** @returns how the tests of a file end that have such names, until one fails */
  run(request: Request): Promise<readonly string[]>;
  end(): void;
}

interface Request {
  /** Files that the mutation changes. */
  readonly changed: readonly string[];
  readonly file: string;
  readonly names: string;
  readonly limit: number;
}

const copies: Copy[] = [];
const free: Copy[] = [];
const waiting: ((copy: Copy) => void)[] = [];
/** Mutations that were not tried for want of time. */
const skipped: string[] = [];

vi.setConfig({ maxConcurrency: COPIES });
beforeAll(async () => {
  copies.push(...(await Promise.all(Array.from({ length: COPIES }, openCopy))));
  free.push(...copies);
});
afterAll(() => {
  for (const copy of copies) copy.end();
  if (skipped.length > 0)
    process.stdout.write(`not tried for want of time: ${skipped.map((one) => `\n  ${one}`).join('')}\n`);
});

async function openCopy(): Promise<Copy> {
  const root = mkdtempSync(join(tmpdir(), 'portolan-mutations-'));
  for (const name of SOURCES) cpSync(name, join(root, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  const { PATH, HOME, TMPDIR } = process.env;
  const runner = fork(join(root, 'test/mutations/runner.mjs'), {
    cwd: root,
    env: { PATH, HOME, TMPDIR },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(runner, 'exit').then(([code]) => {
    throw new Error(`the runner of ${root} ended with ${code}`);
  });
  gone.catch(() => undefined);
  const answer = async (): Promise<readonly string[]> =>
    (await Promise.race([once(runner, 'message'), gone]))[0] as readonly string[];
  await answer();
  return {
    root,
    run: (request) => {
      runner.send(request);
      return answer();
    },
    end: () => {
      runner.kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Runs something in a copy that nobody else uses meanwhile. */
async function inCopy<T>(run: (copy: Copy) => Promise<T>): Promise<T> {
  const copy = free.pop() ?? (await new Promise<Copy>((resolve) => waiting.push(resolve)));
  try {
    return await run(copy);
  } finally {
    const next = waiting.shift();
    if (next) next(copy);
    else free.push(copy);
  }
}

/** Each runs a suite of its own, which waits as the Action does between what it writes. */
const PATIENT = { timeout: 600_000 };

/** The tests of an attack, by their whole names: `6: …`, `3 and 11: …`, `attack 36: …`. */
const namesOf = ({ attack, title = '' }: Mutation): string =>
  `(?:^| )(?:\\d+ and )?${attack}(?: and \\d+)?: .*${title}`;

/** Takes a defence out of a copy; gives back what puts it in again. */
function take({ root }: Copy, { file, text, instead }: Edit): () => void {
  const place = join(root, file);
  const whole = readFileSync(place, 'utf8');
  expect(whole.split(text), `the text of the defence stands in ${file} once`).toHaveLength(2);
  writeFileSync(
    place,
    whole.replace(text, () => instead),
  );
  return () => writeFileSync(place, whole);
}

test.concurrent.for(MUTATIONS)(
  'attack $attack: without $without, a test fails ($file)',
  PATIENT,
  async (mutation, { skip }) => {
    if (Date.now() > END) {
      skipped.push(`attack ${mutation.attack}: ${mutation.without} (${mutation.file})`);
      skip('no time is left');
    }
    const edits = [mutation, ...(mutation.and ? [mutation.and] : [])];
    await inCopy(async (copy) => {
      const undo = edits.map((edit) => take(copy, edit));
      try {
        const { test: file, limit = 60_000 } = mutation;
        const changed = edits.map((edit) => edit.file);
        const names = namesOf(mutation);
        expect(await copy.run({ changed, file, names, limit })).toContain('failed');
      } finally {
        for (const one of undo) one();
      }
    });
  },
);
