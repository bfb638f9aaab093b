/**
 * What a command of the command line is: its words, its options, and what it does. `commands.ts` has its summary.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearest } from '../../catalog/spelling.ts';
import { PipelineError } from '../error.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

export interface Command {
  /** What is typed after the program's name, such as `mirror plan`. */
  readonly words: string;
  /** The operands as the usage line shows them, such as `DIR` or `[FILE…]`. */
  readonly operands: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Further paragraphs of the help text. */
  readonly details?: string;
  readonly examples?: readonly string[];
  /** Set when the command reads its own options: all words are operands. */
  readonly passthrough?: true;
  readonly run: (invocation: Invocation, terminal: Terminal) => Promise<ExitCode>;
}

/** A command in the list of commands, loaded when it is called for. */
export interface CommandEntry {
  readonly words: string;
  /** What it was called before: understood until the next release, and shown nowhere. */
  readonly former?: string;
  /** What the command does: a verb phrase without a full stop. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export interface Option {
  readonly description: string;
  /** What the option takes, as the help shows it; absent for a flag. */
  readonly value?: string;
  /** One letter, without its dash. */
  readonly short?: string;
  /** It may be given several times: `Invocation.list` has all values. */
  readonly multiple?: true;
  /** The command cannot do without it: the usage line shows it. */
  readonly required?: true;
  /** What it was called before: understood until the next release, and shown nowhere. */
  readonly former?: string;
}

/** A command line that was understood. */
export interface Invocation {
  readonly operands: readonly string[];
  /** The value of an option, or undefined. */
  readonly text: (option: string) => string | undefined;
  /** The value of an option that is one of some words, or undefined. @throws PipelineError `usage` for another one */
  readonly word: <T extends string>(option: string, words: readonly T[]) => T | undefined;
  /** The value of an option that must be there. @throws PipelineError `usage` */
  readonly needed: (option: string) => string;
  /** The values of an option that may be repeated, in the order typed. */
  readonly list: (option: string) => readonly string[];
  readonly flag: (option: string) => boolean;
}

/** Whether an option was given, whatever kind it is of. */
export function isGiven({ flag, list, text }: Invocation, option: string): boolean {
  return flag(option) || text(option) !== undefined || list(option).length > 0;
}

/**
 * Reads the arguments behind a command's words.
 *
 * @throws PipelineError `usage`
 */
export function invocationOf(command: Command, parameters: readonly string[]): Invocation {
  if (command.passthrough) return untouchedInvocation(command, parameters);
  const options = parsingOf(command);
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({ args: [...parameters], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw usageError(command, misreadOption(command, error));
  }
  const { positionals } = parsed;
  const values = byNamesOfToday(command, parsed.values);
  checkWords(command, values);
  checkRequired(command, values);
  checkOperands(command, positionals);
  const text = (option: string): string | undefined => {
    // `--json` is short for `--format json`.
    const value = option === 'format' && isJsonAsked(command, values) ? 'json' : values[option];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    operands: positionals,
    text,
    word: (option, words) => {
      const value = text(option);
      const known = words.find((word) => word === value);
      if (value === undefined || known !== undefined) return known;
      throw wrongWord(command, option, { words, typed: value });
    },
    needed: (option) => {
      const value = text(option);
      if (value === undefined) throw usageError(command, `--${option} is required`);
      return value;
    },
    list: (option) => (Array.isArray(values[option]) ? values[option].map(String) : []),
    flag: (option) => values[option] === true,
  };
}

/** The options of a command as Node parses them, with what they were called before. */
function parsingOf(command: Command): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    Object.entries(acceptedOptions(command)).flatMap(([name, { former, ...option }]) => {
      const parsing = {
        type: option.value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: option.multiple ?? false,
      };
      // A letter belongs to one option: that of today.
      const own = { ...parsing, ...(option.short === undefined ? {} : { short: option.short }) };
      return [[name, own], ...(former === undefined ? [] : [[former, parsing]])];
    }),
  );
}

/** Whether help is asked for: not by what stands where a value must be, which may be a name that somebody else chose. */
export function asksForHelp(command: Command, parameters: readonly string[]): boolean {
  if (command.passthrough) return false;
  const options = { ...parsingOf(command), help: { type: 'boolean', short: 'h' } as const };
  const { tokens } = parseArgs({ args: [...parameters], options, strict: false, tokens: true });
  // In `--name --help`, Node takes `--help` for the value of `--name`: the strict reading reports that as an error.
  const decisive = tokens
    .filter((token) => token.kind === 'option')
    .find(({ name, value, inlineValue }) => name === 'help' || (inlineValue === false && /^-./.test(value)));
  return decisive?.name === 'help';
}

/** Values by what their options are called today. What is typed by a former name counts as typed by that of today. */
function byNamesOfToday(
  command: Command,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const today = new Map(Object.entries(command.options).map(([name, { former }]) => [former, name]));
  const renamed = Object.entries(values).map(([typed, value]) => {
    const name = today.get(typed) ?? typed;
    if (name !== typed && values[name] !== undefined)
      throw usageError(command, `--${typed} is the former name of --${name}: use only --${name}`);
    return [name, value];
  });
  return Object.fromEntries(renamed);
}

/** The options of a command; where it can print JSON, `--json` among them. */
export function acceptedOptions({ options }: Command): Command['options'] {
  const formats = options['format']?.value?.split('|') ?? [];
  return formats.includes('json') && options['json'] === undefined
    ? { ...options, json: { description: 'the same as --format json' } }
    : options;
}

/**
 * Whether the output is to be JSON, by `--json` or `--format`.
 *
 * @throws PipelineError `usage` when another format is asked for as well
 */
function isJsonAsked(command: Command, values: Readonly<Record<string, unknown>>): boolean {
  // A command that declares `--json` itself reads it as a flag.
  if (command.options['json'] !== undefined || values['json'] !== true) return false;
  const { format = 'json' } = values;
  if (format !== 'json')
    throw usageError(command, `--json and --format ${String(format)} cannot be used together`);
  return true;
}

/** What is wrong with options that cannot be read, with the option that was probably meant. */
function misreadOption(command: Command, error: unknown): string {
  // Behind its first sentence, Node says how to write an operand that begins with a dash.
  const [first = ''] = error instanceof Error ? error.message.split('. ') : [String(error)];
  const what = first.charAt(0).toLowerCase() + first.slice(1);
  // As Node writes it: the name that was typed is not in its error otherwise.
  const [, typed] = /^unknown option '--?([^']*)'$/.exec(what) ?? [];
  if (typed === undefined) return what;
  const options = acceptedOptions(command);
  const isOfJson = FORMAT_OPTIONS.has(typed) && options['json'] !== undefined;
  const near = isOfJson ? 'json' : nearest(typed, Object.keys(options));
  return near === undefined ? what : `${what}: did you mean --${near}?`;
}

/** What other commands and programs call the option for JSON. */
const FORMAT_OPTIONS: ReadonlySet<string> = new Set(['format', 'output', 'o']);

/** An option whose help lists its words takes no others. @throws PipelineError `usage` */
function checkWords(command: Command, values: Readonly<Record<string, unknown>>): void {
  for (const [name, option] of Object.entries(command.options)) {
    const words = choicesOf(option);
    const typed = [values[name] ?? []].flat().map(String);
    const wrong = words.length === 0 ? undefined : typed.find((word) => !words.includes(word));
    if (wrong !== undefined) throw wrongWord(command, name, { words, typed: wrong });
  }
}

/** Checks that all required options are given. @throws PipelineError `usage`, with all options that are missing */
function checkRequired(command: Command, values: Readonly<Record<string, unknown>>): void {
  const missing = requiredOptions(command).filter(([name]) => values[name] === undefined);
  if (missing.length === 0) return;
  const names = enumerated(
    missing.map(([name]) => `--${name}`),
    'and',
  );
  throw usageError(command, `${names} ${missing.length === 1 ? 'is' : 'are'} required`);
}

/** The options without which a command cannot run, with their names. */
function requiredOptions({ options }: Pick<Command, 'options'>): [string, Option][] {
  return Object.entries(options).filter(([, { required }]) => required);
}

/** The error for an option with a word that is not one of its words. */
function wrongWord(
  command: Command,
  option: string,
  { words, typed }: { readonly words: readonly string[]; readonly typed: string },
): PipelineError {
  return usageError(command, `--${option} must be ${enumerated(words, 'or')}, not ${JSON.stringify(typed)}`);
}

/** `a, b or c`: the last comma becomes a word. */
function enumerated(words: readonly string[], last: 'and' | 'or'): string {
  return words.join(', ').replace(/, ([^,]*)$/, ` ${last} $1`);
}

/** The words of which an option takes one; none where it takes anything else, or is a flag. */
export function choicesOf({ value = '' }: Pick<Option, 'value'>): readonly string[] {
  return WORDS.test(value) ? value.split('|') : [];
}

/** `text|json`, `v0|v1`, `-`: what is to be typed as it stands; what stands for something else has capitals. */
const WORDS = /^[a-z0-9.-]+(\|[a-z0-9.-]+)*$/;

/** The invocation of a command that parses its words itself: all of them are operands. */
function untouchedInvocation(command: Command, operands: readonly string[]): Invocation {
  return {
    operands,
    text: () => undefined,
    word: () => undefined,
    needed: (option) => {
      throw usageError(command, `--${option} is required`);
    },
    list: () => [],
    flag: () => false,
  };
}

/** Checks the number of operands against the usage line: `[X]` may be left out, `X…` may be repeated. */
function checkOperands(command: Command, operands: readonly string[]): void {
  const shown = command.operands === '' ? [] : command.operands.split(' ');
  const least = shown.filter((word) => !word.startsWith('[')).length;
  const most = shown.some((word) => word.includes('…')) ? Number.POSITIVE_INFINITY : shown.length;
  if (operands.length < least)
    throw usageError(command, `missing argument: ${shown.slice(operands.length).join(' ')}`);
  if (operands.length > most)
    throw usageError(command, `unexpected argument ${JSON.stringify(operands[most])}`);
}

/** An error for a command line that cannot be understood, with the usage in the hint. */
export function usageError(command: Omit<Command, 'run'>, message: string): PipelineError {
  return new PipelineError('usage', message, {
    hint: `usage: ${usageLine(command)} (portolan ${command.words} --help)`,
  });
}

/** How a command is written: its required options in full, all others as one `[OPTION…]`. */
function usageLine(command: Omit<Command, 'run'>): string {
  const required = requiredOptions(command).map(
    ([name, { value, multiple }]) => `--${name} ${value}${multiple ? '…' : ''}`,
  );
  const isAll = Object.keys(command.options).length === required.length;
  const words = [command.operands, ...required, isAll ? '' : '[OPTION…]'].filter((word) => word !== '');
  return ['portolan', command.words, ...words].join(' ');
}

/** The help text of a command, as `--help` prints it. */
export function helpText(command: Command, summary: string): string {
  const lines = [`Usage: ${usageLine(command)}`, '', `${summary}.`];
  if (command.details !== undefined) lines.push('', command.details);
  const options = Object.entries(acceptedOptions(command)).map(([name, option]): [string, string] => {
    const short = option.short === undefined ? '    ' : `-${option.short}, `;
    return [`${short}--${name}${option.value === undefined ? '' : ` ${option.value}`}`, option.description];
  });
  lines.push('', 'Options:', ...twoColumns([...options, ['    --help', 'show this help']]));
  if (command.examples) lines.push('', 'Examples:', ...command.examples.map((example) => `  ${example}`));
  lines.push('', EXIT_CODES);
  return `${lines.join('\n')}\n`;
}

/** What every command exits with. */
export const EXIT_CODES = 'Exit codes: 0 passed, 1 failed, 2 could not complete the check.';

/** Rows of a name and its description, aligned; the names are as wide as the widest one unless a width is given. */
export function twoColumns(
  rows: readonly (readonly [string, string])[],
  width: number = Math.max(...rows.map(([name]) => name.length)),
): string[] {
  return rows.map(([name, description]) => `  ${name.padEnd(width)}  ${description}`);
}

/** The whole number that an option holds; undefined where it was left out. @throws PipelineError `usage` */
export function numberOption(command: Command, { text }: Invocation, option: string): number | undefined {
  const value = text(option);
  if (value === undefined) return undefined;
  if (/^-?\d+$/.test(value)) return Number(value);
  throw usageError(command, `--${option} must be a whole number, not ${JSON.stringify(value)}`);
}

/** A number of things of which there must be one at least. @throws PipelineError `usage` */
export function countOption(command: Command, invocation: Invocation, option: string): number | undefined {
  const count = numberOption(command, invocation, option);
  if (count === undefined || count > 0) return count;
  throw usageError(command, `--${option} must be 1 or more, not ${count}`);
}
