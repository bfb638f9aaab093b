/**
 * What `portolan` runs first. Commands that run over and over, in Makefiles and hooks, have
 * a file each with all that they need: reading the many files that the commands share takes
 * longer than many a catalog.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files of the commands that have one, by the command's words. */
declare const COMMAND_FILES: Readonly<Record<string, CommandFile>>;
/** The file with all commands. */
declare const PROGRAM_FILE: string;

interface CommandFile {
  readonly file: string;
  /** A folder in an operand that takes the whole program. */
  readonly unless?: string;
  /** Options that take the whole program. */
  readonly without?: readonly string[];
  readonly only?: OnlyThese;
}

/** All that a file can do of its command. */
interface OnlyThese {
  /** A folder that each operand has. */
  readonly folder: string;
  /** Options with a value. */
  readonly options: readonly string[];
  /** Words that no value contains. */
  readonly not: readonly string[];
}

const [first = '', second = '', ...more] = process.argv.slice(2);
const files = new Map(Object.entries(COMMAND_FILES));
const own = files.get(first) ?? files.get(`${first} ${second}`);
const { unless, without = [], only } = own ?? {};
// Without an operand, commands read the current directory.
const lacksFolder =
  unless === undefined || !['.', second, ...more].some((word) => existsSync(join(word, unless)));
const lacksOptions = !more.some((word) => without.includes(word.split('=')[0] ?? ''));
if (first === 'check') await check(own?.file ?? PROGRAM_FILE);
else if (own && lacksFolder && lacksOptions && (only === undefined || isOnly(more, only)))
  createRequire(import.meta.url)(own.file);
else await import(PROGRAM_FILE);

/**
 * Runs a check in a process of its own: a foreign pull request that hangs, crashes or fills the memory still gets a
 * report.
 */
async function check(file: string): Promise<void> {
  // Its help is in a small file of the whole program.
  if ([second, ...more].some((word) => ['--help', '-h'].includes(word))) return import(PROGRAM_FILE);
  const { ENDED, runSupervised: supervised } = await import('./supervised.ts');
  const program = fileURLToPath(new URL(file, import.meta.url));
  const end = await supervised([program, ...process.argv.slice(2)], process.env);
  if (typeof end === 'number') {
    process.exitCode = end;
    return;
  }
  // The whole program, in this process, then writes the report that says so.
  process.env[ENDED] = end;
  await import(PROGRAM_FILE);
}

/** Whether words are folders, at least one, and known options with their values. */
function isOnly(words: readonly string[], { folder, options, not }: OnlyThese): boolean {
  // A word behind an option is its value.
  const operands = words.filter((word, i) => !word.startsWith('-') && !options.includes(words[i - 1] ?? ''));
  return (
    operands.length > 0 &&
    operands.every((word) => existsSync(join(word, folder))) &&
    words.every((word) => !not.some((other) => word.includes(other))) &&
    words.every((word) => !word.startsWith('-') || options.includes(word.split('=')[0] ?? ''))
  );
}
