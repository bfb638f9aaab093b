/**
 * What `portolan` runs first. Commands that run over and over, in Makefiles and hooks, have
 * a file each with all that they need: reading the many files that the commands share takes
 * longer than many a catalog.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Files of the commands that have one, by the command's words. */
declare const COMMAND_FILES: Readonly<Record<string, CommandFile>>;
/** The file with all commands. */
declare const PROGRAM_FILE: string;

interface CommandFile {
  readonly file: string;
  /** A folder in an operand that takes the whole program. */
  readonly unless?: string;
}

const [first = '', second = '', ...more] = process.argv.slice(2);
const files = new Map(Object.entries(COMMAND_FILES));
const own = files.get(first) ?? files.get(`${first} ${second}`);
const { unless } = own ?? {};
const isOwn = unless === undefined || !['.', second, ...more].some((word) => existsSync(join(word, unless)));
if (own && isOwn) createRequire(import.meta.url)(own.file);
else await import(PROGRAM_FILE);
