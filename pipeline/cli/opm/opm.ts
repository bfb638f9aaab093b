/** opm's command line: finds the command, reads its flags, runs it. */

import { nearest } from '../../../catalog/spelling.ts';
import { PipelineError } from '../../error.ts';
import type { Command } from '../command.ts';
import { GLOBAL_FLAGS, type OpmCommand, type OpmExit, type OpmFlag, type World } from './command.ts';
import { OPM_COMMANDS, type OpmEntry } from './commands.ts';
import { callOf, operandIndexes } from './flags.ts';

export const command: Command = {
  words: 'opm',
  operands: 'COMMAND [WORD…]',
  options: {},
  passthrough: true,
  details: [
    'Replace "opm" with "portolan opm" in a Makefile. Exit codes, standard output and written files are the same as those of',
    'opm. Error messages on standard error are those of Portolan: all errors at once, with file, line and column.',
    'Run "portolan opm --help" for the list of commands.',
  ].join('\n'),
  examples: [
    'portolan opm validate catalogs/v4.20',
    'portolan opm render quay.io/operatorhubio/catalog:latest -o yaml',
    'portolan opm alpha render-template semver template.yaml -o yaml > catalog.yaml',
  ],
  run: ({ operands }, terminal) =>
    runOpm(operands, {
      terminal,
      registry: async (host, options) => {
        const { registryClient } = await import('../../catalogs/render/client.ts');
        return registryClient(terminal, host, options);
      },
    }),
};

/**
 * Runs what was typed behind `opm`. Errors are printed, and end with 1 as in opm.
 */
export async function runOpm(words: readonly string[], world: World): Promise<OpmExit> {
  try {
    return await dispatch(words, world);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    world.terminal.err(`opm: ${error.message}\n`);
    const hint = hintOf(error);
    if (hint !== undefined) world.terminal.err(`  ${hint}\n`);
    return 1;
  }
}

/**
 * The hint for an error, in terms of opm's flags. opm has none for internal hosts, and needs none: here, whoever names
 * a host may ask it.
 */
function hintOf({ remedy, hint }: PipelineError): string | undefined {
  if (remedy?.kind === 'plain-http') return `if ${remedy.host} uses plain HTTP: --use-http`;
  if (remedy?.kind === 'authority') {
    return `set NODE_EXTRA_CA_CERTS to a file with the certificate of the CA that signed ${remedy.host}'s certificate`;
  }
  return remedy === undefined ? hint : undefined;
}

/** The flag for help, with what Go reads as true. */
const HELP = /^(?:-h|--help)(?:=(?:1|t|T|TRUE|true|True))?$/;

/** Finds the command of opm that the words name, and runs it or prints its help. */
async function dispatch(words: readonly string[], world: World): Promise<OpmExit> {
  const [first] = words;
  const typed = first === 'help' ? words.slice(1) : words;
  const found = findEntry(typed);
  const wantsHelp = first === 'help' || typed.some((word) => HELP.test(word));
  if (!found) return answerGroup(typed, wantsHelp, world);
  const command = await found.entry.load();
  if (wantsHelp) {
    await world.terminal.out(helpText(command));
    return 0;
  }
  return command.run(callOf(command, found.rest), world);
}

/** The command with the most words, and the line without them. */
function findEntry(words: readonly string[]): { entry: OpmEntry; rest: string[] } | undefined {
  const indexes = operandIndexes(words);
  const operands = indexes.map((index) => words[index]);
  // All of them begin the same line: more words are a longer text.
  const [entry] = OPM_COMMANDS.filter((one) =>
    one.words.split(' ').every((word, i) => operands[i] === word),
  ).sort((a, b) => b.words.length - a.words.length);
  if (!entry) return undefined;
  const taken = new Set(indexes.slice(0, entry.words.split(' ').length));
  return { entry, rest: words.filter((_, i) => !taken.has(i)) };
}

/** Groups that print nothing to standard output when none of their commands is named; others print their help there. */
const SILENT: ReadonlySet<string> = new Set(['', 'alpha']);

/** Answers words that name only a group of commands, as opm does: with help, or an error. */
async function answerGroup(words: readonly string[], wantsHelp: boolean, world: World): Promise<OpmExit> {
  const indexes = operandIndexes(words);
  const operands = indexes.map((index) => words[index] ?? '');
  const group = longestGroup(operands);
  const groupSize = group === '' ? 0 : group.split(' ').length;
  const unknown = operands[groupSize];
  const isSilent = SILENT.has(group);
  // An unknown command is the error of a silent group, whatever flags stand behind it.
  if (!wantsHelp && (!isSilent || unknown === undefined)) {
    const taken = new Set(indexes.slice(0, groupSize));
    // As opm has it: the other groups print their help whatever stands behind them.
    const most = isSilent ? 0 : Number.POSITIVE_INFINITY;
    // Only for its errors: unknown flags and too many operands.
    callOf(
      groupCommand(group, most),
      words.filter((_, i) => !taken.has(i)),
    );
  }
  if (wantsHelp || !isSilent) {
    await world.terminal.out(groupHelp(group));
    return 0;
  }
  if (unknown === undefined) {
    world.terminal.err(groupHelp(group));
    return 0;
  }
  throw new PipelineError(
    'usage',
    `unknown command ${JSON.stringify(unknown)} in opm${group === '' ? '' : ` ${group}`}`,
    {
      hint: suggestion(group, unknown),
    },
  );
}

/** The longest group of commands that the operands name; empty if they name none. */
function longestGroup(operands: readonly string[]): string {
  for (let count = operands.length; count > 0; count--) {
    const group = operands.slice(0, count).join(' ');
    if (OPM_COMMANDS.some(({ words }) => words.startsWith(`${group} `))) return group;
  }
  return '';
}

/** A group of commands as a command, to read the flags behind its words. */
function groupCommand(words: string, most: number): OpmCommand {
  return { words, summary: '', operands: '', least: 0, most, flags: {}, run: async () => 0 };
}

/** What has another place here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['serve', 'portolan serve'],
  ['index', 'portolan index'],
  ['alpha bundle', 'portolan bundle'],
]);

/** What to use in place of an unknown command: one of Portolan, the one that was probably meant, or any of the list. */
function suggestion(group: string, unknown: string): string {
  const elsewhere = ELSEWHERE.get(group === '' ? unknown : `${group} ${unknown}`);
  if (elsewhere !== undefined) return `use ${elsewhere}`;
  const words = membersOf(group).map(
    (name) => name.slice(group === '' ? 0 : group.length + 1).split(' ')[0] ?? '',
  );
  const near = nearest(unknown, new Set(words));
  return near === undefined ? `commands: ${[...new Set(words)].join(', ')}` : `did you mean: ${near}`;
}

/** The commands of a group; all for the empty group, which is opm itself. */
function membersOf(group: string): string[] {
  return OPM_COMMANDS.map(({ words }) => words).filter(
    (words) => group === '' || words.startsWith(`${group} `),
  );
}

/** The help of a group of commands: its usage, and its commands. @param group empty for opm itself */
function groupHelp(group: string): string {
  const name = group === '' ? 'opm' : `opm ${group}`;
  return [
    `Usage: portolan ${name} COMMAND`,
    '',
    ...membersOf(group).map((words) => `  portolan opm ${words}`),
    '',
  ].join('\n');
}

/** The help of a command: its usage, what it does, and its flags. */
function helpText(command: OpmCommand): string {
  const rows = Object.entries({ ...command.flags, ...GLOBAL_FLAGS }).map(flagLine);
  return [
    `Usage: portolan opm ${command.words}${command.operands === '' ? '' : ` ${command.operands}`} [FLAG…]`,
    '',
    command.summary,
    '',
    ...rows,
    '',
  ].join('\n');
}

/** A flag as a line of the help. */
function flagLine([name, { short, value, description }]: readonly [string, OpmFlag]): string {
  const letter = short === undefined ? '    ' : `-${short}, `;
  return `  ${letter}--${name}${value === undefined ? '' : ` ${value}`}  ${description}`;
}
