/**
 * Flags as Go's pflag reads them: between operands, `--flag value`, `--flag=value`, `-fvalue`,
 * `-f=value`, flags that are only there run together, `--` ends them.
 *
 * @see https://github.com/spf13/pflag
 */
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { PipelineError } from '../../error.ts';
import { type Call, GLOBAL_FLAGS, type OpmCommand, type OpmFlag } from './command.ts';

type Flags = Readonly<Record<string, OpmFlag>>;

/**
 * Reads what stands behind a command's words.
 *
 * @throws PipelineError `usage`
 */
export function callOf(command: OpmCommand, words: readonly string[]): Call {
  const flags = { ...GLOBAL_FLAGS, ...command.flags };
  const { operands, values } = parse(words, flags);
  if (operands.length < command.least || operands.length > command.most) {
    throw usage(`${operandCount(command)}, received ${operands.length}`);
  }
  const exclusive = (command.exclusive ?? []).filter((flag) => values.has(flag));
  if (exclusive.length > 1) throw usage(`--${exclusive.join(' and --')} cannot be used together`);
  return {
    operands,
    text: (flag) => values.get(flag)?.at(-1) ?? flags[flag]?.default ?? '',
    list: (flag) => (values.get(flag) ?? []).flatMap((value) => commaList(flag, value)),
    flag: (flag) => values.get(flag)?.at(-1) === 'true',
    given: (flag) => values.has(flag),
  };
}

/**
 * The words that are neither flags nor their values, so that the command can be found: flags may come before and between its
 * words.
 *
 * @returns indexes into `words`
 */
export function operandIndexes(words: readonly string[]): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    if (word === '--') break;
    // Neither is part of a command's words, nor a flag.
    if (word === '' || word === '-') continue;
    if (!isFlag(word)) indexes.push(i);
    else if (!word.includes('=') && takesNext(word)) i++;
  }
  return indexes;
}

/**
 * Whether the next word is the value of this flag. As in cobra, which looks for the command and knows only global flags
 * by then: every other flag takes the next word.
 */
function takesNext(word: string): boolean {
  if (word.startsWith('--')) {
    const name = word.slice(2);
    return !Object.hasOwn(GLOBAL_FLAGS, name) || GLOBAL_FLAGS[name]?.value !== undefined;
  }
  // `-o yaml`, but not `-oyaml`; the one global flag with a letter, `-h`, takes no value.
  return word.length === 2 && word !== '-h';
}

/** Whether a word is one or more flags; `-` alone is an operand, standard input. */
function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-');
}

/** How many operands a command takes, in the words of an error. */
function operandCount({ least, most }: OpmCommand): string {
  if (least === most) return `accepts ${least} operand${least === 1 ? '' : 's'}`;
  if (most === Number.POSITIVE_INFINITY) return `needs at least ${least} operand${least === 1 ? '' : 's'}`;
  return `accepts between ${least} and ${most} operands`;
}

interface Parsed {
  readonly operands: string[];
  /** By the long name of the flag, in the order typed; `true` or `false` for a flag without a value. */
  readonly values: Map<string, string[]>;
}

/** Sorts words into operands and values of flags, as cobra does. */
function parse(words: readonly string[], flags: Flags): Parsed {
  const parsed: Parsed = { operands: [], values: new Map() };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      parsed.operands.push(...rest);
      break;
    }
    if (!isFlag(word)) parsed.operands.push(word);
    else if (word.startsWith('--')) longFlag(word.slice(2), rest, { flags, values: parsed.values });
    else shortFlags(word.slice(1), rest, { flags, values: parsed.values });
  }
  return parsed;
}

interface FlagTarget {
  readonly flags: Flags;
  readonly values: Map<string, string[]>;
}

/** Reads a flag into `into`; a value that is a word of its own is taken from `rest`. */
function longFlag(text: string, rest: string[], into: FlagTarget): void {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  // Every object has a `constructor`, which is not a flag.
  const flag = Object.hasOwn(into.flags, name) ? into.flags[name] : undefined;
  if (!flag || name === '') throw usage(`unknown flag: --${name}`);
  if (equals >= 0) set(name, text.slice(equals + 1), into);
  else if (flag.value === undefined) set(name, 'true', into);
  else set(name, nextWord(rest, `--${name}`), into);
}

/** Reads letters that stand together: flags without values, and at most one with a value, which ends them. */
function shortFlags(text: string, rest: string[], into: FlagTarget): void {
  for (let left = text; left !== ''; ) {
    const short = left.charAt(0);
    left = left.slice(1);
    const [name, flag] = Object.entries(into.flags).find(([, one]) => one.short === short) ?? [];
    if (name === undefined || !flag) throw usage(`unknown flag: -${short} in -${text}`);
    if (left.startsWith('=')) {
      set(name, left.slice(1), into);
      return;
    }
    if (flag.value === undefined) set(name, 'true', into);
    else {
      set(name, left === '' ? nextWord(rest, `-${short}`) : left, into);
      return;
    }
  }
}

/** Takes the next word as the value of a flag. @throws PipelineError `usage` */
function nextWord(rest: string[], flag: string): string {
  const value = rest.shift();
  if (value === undefined) throw usage(`${flag} requires a value`);
  return value;
}

/** What Go reads as true and false. */
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** Adds a value to those of a flag. @throws PipelineError `usage` for a text that Go does not read as true or false */
function set(name: string, value: string, { flags, values }: FlagTarget): void {
  let stored = value;
  if (flags[name]?.value === undefined) {
    if (!TRUE.has(value) && !FALSE.has(value)) {
      throw usage(`--${name} must be true or false, not ${JSON.stringify(value)}`);
    }
    stored = String(TRUE.has(value));
  }
  appendToGroup(values, name, stored);
}

/** The error for a line that cannot be read. */
function usage(message: string): PipelineError {
  return new PipelineError('usage', message);
}

// Lists in one flag, as Go's pflag reads them: one record of CSV.

/**
 * The fields of a record: quotes around a field keep its commas, and stand twice for themselves.
 *
 * @throws PipelineError `usage` for quotes that Go's encoding/csv does not take
 */
export function commaList(flag: string, given: string): string[] {
  // Go drops a carriage return at the end of a line and of the text.
  const text = given.replace(/\r(?=\n|$)/g, '');
  const fields: string[] = [];
  if (text === '') return fields;
  for (let at = 0; ; ) {
    const quoted = text.charAt(at) === '"';
    const end = quoted ? endOfQuoted(text, at, flag) : endOfBare(text, at, flag);
    fields.push(quoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end));
    if (text.charAt(end) !== ',') return fields;
    at = end + 1;
  }
}

/** Where a field without quotes ends. @throws PipelineError `usage` for a quote in it */
function endOfBare(text: string, from: number, flag: string): number {
  const comma = text.indexOf(',', from);
  const end = comma < 0 ? endOfLine(text) : comma;
  if (text.slice(from, end).includes('"')) {
    throw new PipelineError('usage', `--${flag} ${JSON.stringify(text)}: a quote in an unquoted value`);
  }
  return end;
}

/** Only the first line is read. */
function endOfLine(text: string): number {
  const line = text.indexOf('\n');
  return line < 0 ? text.length : line;
}

/** The place behind the closing quote of a field. @throws PipelineError `usage` for a quote that stands elsewhere */
function endOfQuoted(text: string, from: number, flag: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text.charAt(at) !== '"') continue;
    const next = text.charAt(at + 1);
    // Two quotes are one in the value.
    if (next === '"') at++;
    else if (next === ',' || next === '' || next === '\n') return at + 1;
    else break;
  }
  throw new PipelineError('usage', `--${flag} ${JSON.stringify(text)}: a misplaced quote`);
}
