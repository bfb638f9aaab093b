/**
 * The command line: finds the command, reads its options, runs it, and prints errors.
 */

import { StepsError } from '../../catalog/go/steps.ts';
import { nearest } from '../../catalog/spelling.ts';
import { Undecided } from '../../catalog/undecided.ts';
import { PipelineError } from '../error.ts';
import { type ExitCode, guardedTerminal, type Terminal } from '../terminal.ts';
import { linesText } from '../text.ts';
import { asksForHelp, type CommandEntry, EXIT_CODES, helpText, invocationOf, twoColumns } from './command.ts';
import { COMMAND_GROUPS, COMMANDS, EVERYDAY } from './commands.ts';

/**
 * Runs one command line.
 *
 * @param parameters what was typed behind the program's name
 * @param version the program's version
 */
export async function runCommandLine(
  parameters: readonly string[],
  version: string,
  screen: Terminal,
): Promise<ExitCode> {
  const terminal = guardedTerminal(screen);
  try {
    return await dispatch(parameters, version, terminal);
  } catch (error) {
    // An input that costs too much to decide is not a bug.
    if (error instanceof Undecided || error instanceof StepsError) {
      terminal.err(linesText([`portolan: ${error.message}`]));
      return 2;
    }
    if (!(error instanceof PipelineError)) throw error;
    const hint = error.hint === undefined ? [] : [`  ${error.hint}`];
    const details = error.details.map((line) => `  ${line}`);
    terminal.err(linesText([`portolan: ${error.message}`, ...hint, ...details]));
    return 2;
  }
}

/** Finds the command that the arguments name, and runs it or prints its help. */
async function dispatch(
  parameters: readonly string[],
  version: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const [first] = parameters;
  if (first === '--version' || first === 'version') {
    await terminal.out(`portolan ${version}\n`);
    return 0;
  }
  const words = first === 'help' ? parameters.slice(1) : parameters;
  const entry = findCommand(words);
  if (!entry) {
    const isHelp = words.length === 0 || words[0] === '--help' || words[0] === '-h';
    // `help --all` without its first word, or `--help --all`: nothing else may stand there.
    const isAll = words.includes('--all') && words.length === (first === 'help' ? 1 : 2);
    if (isHelp || (first === 'help' && isAll)) {
      await terminal.out(overview(version, isAll));
      // A missing command is an error, although what it prints is help.
      return first === undefined ? 2 : 0;
    }
    const wantsHelp = first === 'help' || words.includes('--help') || words.includes('-h');
    return unknownCommand(words, wantsHelp, terminal);
  }
  const command = await entry.load();
  const rest = words.slice(startingWords(entry, words)?.length);
  if (first === 'help' || asksForHelp(command, rest)) {
    await terminal.out(helpText(command, entry.summary));
    return 0;
  }
  return command.run(invocationOf(command, rest), terminal);
}

/** The words of a command that a line begins with: those of today, or those of before; undefined if it begins with neither. */
function startingWords(
  { words: today, former = today }: CommandEntry,
  words: readonly string[],
): readonly string[] | undefined {
  return [today, former]
    .map((one) => one.split(' '))
    .find((one) => one.every((word, position) => words[position] === word));
}

/** The command with the most words that the line begins with. */
function findCommand(words: readonly string[]): CommandEntry | undefined {
  const matching = COMMANDS.filter((entry) => startingWords(entry, words) !== undefined);
  // All of them begin the same line: more words are a longer text.
  return matching.sort((a, b) => b.words.length - a.words.length)[0];
}

/**
 * Lists the commands of a family, such as `portolan mirror`. The exit code is 2 unless help was asked for, as a word is missing.
 *
 * @throws PipelineError `usage` for other words
 */
async function unknownCommand(
  words: readonly string[],
  wantsHelp: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const family = COMMANDS.filter((entry) => entry.words.startsWith(`${words[0]} `));
  if (family.length > 0) {
    const text = `Usage: portolan ${words[0]} COMMAND\n\n${twoColumns(family.map(({ words: w, summary }) => [w, summary])).join('\n')}\n`;
    if (!wantsHelp) terminal.err(text);
    else await terminal.out(text);
    return wantsHelp ? 0 : 2;
  }
  throw new PipelineError('usage', `unknown command ${JSON.stringify(words[0])}`, {
    hint: suggestion(words[0] ?? ''),
  });
}

/** What to type instead of an unknown word: the command with the most similar first word. */
function suggestion(word: string): string {
  const near = nearest(word, new Set(COMMANDS.map(({ words }) => words.split(' ')[0] ?? '')));
  const command = COMMANDS.find(({ words }) => words.split(' ')[0] === near);
  return command ? `did you mean: portolan ${command.words}` : 'run portolan help --all to list the commands';
}

/** The everyday commands, or all of them in their groups. */
function overview(version: string, isAll: boolean): string {
  const groups = isAll
    ? COMMAND_GROUPS
    : [
        {
          title: 'Everyday commands',
          commands: EVERYDAY.flatMap((words) => findCommand(words.split(' ')) ?? []),
        },
      ];
  const width = Math.max(...groups.flatMap(({ commands }) => commands.map(({ words }) => words.length)));
  return [
    `Portolan ${version}: the catalog pipeline for Operator Lifecycle Manager`,
    '',
    'Usage: portolan COMMAND [ARGUMENT…] [OPTION…]',
    '',
    ...groups.flatMap(({ title, commands }) => [
      `${title}:`,
      ...twoColumns(
        commands.map(({ words, summary }) => [words, summary]),
        width,
      ),
      '',
    ]),
    ...(isAll ? [] : [`Run portolan help --all to list all ${COMMANDS.length} commands.`]),
    'Run portolan COMMAND --help for the options of a command.',
    '',
    EXIT_CODES,
    '',
  ].join('\n');
}
