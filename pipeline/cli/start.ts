/**
 * What `portolan` runs first. Commands that run over and over, in Makefiles and hooks, have
 * a file each with all that they need: reading the many files that the commands share takes
 * longer than many a catalog.
 */
import { createRequire } from 'node:module';

/** Words of the commands that have a file of their own, by that file. */
declare const COMMAND_FILES: Readonly<Record<string, string>>;
/** The file with all commands. */
declare const PROGRAM_FILE: string;

const [first = '', second = ''] = process.argv.slice(2);
const files = new Map(Object.entries(COMMAND_FILES));
const file = files.get(first) ?? files.get(`${first} ${second}`);
if (file === undefined) await import(PROGRAM_FILE);
else createRequire(import.meta.url)(file);
