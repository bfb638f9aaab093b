import { acceptedOptions, type Command, type CommandEntry, choicesOf } from './command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** The command that prints the completions of all commands. */
export function completionOf(commands: readonly CommandEntry[]): Command {
  return {
    words: 'completion',
    operands: 'bash|zsh|fish',
    options: {},
    details: [
      'bash: add  source <(portolan completion bash)  to ~/.bashrc',
      'zsh:  add  source <(portolan completion zsh)  to ~/.zshrc, after compinit',
      'fish: run  portolan completion fish > ~/.config/fish/completions/portolan.fish',
    ].join('\n'),
    examples: ['portolan completion bash'],
    run: async ({ operands }, terminal) => {
      const shell = SHELLS.find((name) => name === operands[0]);
      if (!shell) {
        terminal.err(
          `portolan: no completion for ${JSON.stringify(operands[0])}: use ${SHELLS.join(', ')}\n`,
        );
        return 2;
      }
      const known = await Promise.all(
        commands.map(async ({ words, summary, load }) => ({ words, summary, command: await load() })),
      );
      const completable = known.map(completableOf);
      await terminal.out(shell === 'fish' ? fishScript(completable) : bashScript(completable, shell));
      return 0;
    },
  };
}

/** A command as a shell completes it. */
interface Completable {
  readonly words: string;
  readonly summary: string;
  readonly options: readonly CompletableOption[];
}

interface CompletableOption {
  readonly name: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** Words that it takes; empty where it takes a file or anything else. */
  readonly choices: readonly string[];
}

/** What a shell completes of a command: its options, and the values of those with fixed ones. */
function completableOf({
  words,
  summary,
  command,
}: {
  readonly words: string;
  readonly summary: string;
  readonly command: Command;
}): Completable {
  // Such a command reads its options itself.
  const options = command.passthrough ? {} : acceptedOptions(command);
  return {
    words,
    summary,
    options: [
      ...Object.entries(options).map(([name, option]) => ({
        name,
        description: option.description,
        takesValue: option.value !== undefined,
        choices: choicesOf(option),
      })),
      { name: 'help', description: 'show help', takesValue: false, choices: [] },
    ],
  };
}

interface CommandWords {
  readonly first: readonly string[];
  /** By first word, the second words of the commands that have two. */
  readonly second: ReadonlyMap<string, readonly string[]>;
}

/** The first words of commands, and the second ones that each of them can have. */
function wordsOf(commands: readonly Completable[]): CommandWords {
  const second = new Map<string, string[]>();
  for (const { words } of commands) {
    const [family = '', member] = words.split(' ');
    second.set(family, [...(second.get(family) ?? []), ...(member === undefined ? [] : [member])]);
  }
  return { first: [...second.keys()], second };
}

/** The completion script for bash, and for zsh, which supports those of bash. */
function bashScript(commands: readonly Completable[], shell: 'bash' | 'zsh'): string {
  const words = wordsOf(commands);
  const lines = [
    `# Completions of portolan for ${shell}.`,
    ...(shell === 'zsh' ? ['autoload -Uz bashcompinit && bashcompinit'] : []),
    '_portolan() {',
    `  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"`,
    `  local first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" command options=""`,
    '  COMPREPLY=()',
    `  if [ "$COMP_CWORD" -eq 1 ]; then ${replyWith(['help', ...words.first])}; return; fi`,
    '  if [ "$COMP_CWORD" -eq 2 ]; then',
    '    case "$first" in',
    ...secondWordCases(commands, words),
    '    esac',
    '  fi',
    '  case "$first $second" in',
    ...twoWordCases(words),
    '    *) command="$first" ;;',
    '  esac',
    '  case "$command $previous" in',
    ...valueCases(commands),
    '  esac',
    '  case "$command" in',
    ...optionCases(commands),
    '  esac',
    '  case "$current" in',
    '    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;',
    '    *) COMPREPLY=($(compgen -f -- "$current")) ;;',
    '  esac',
    '}',
    'complete -o filenames -F _portolan portolan',
  ];
  return `${lines.join('\n')}\n`;
}

/** A command of bash that offers those of the words that begin like the current one. */
function replyWith(words: readonly string[]): string {
  return `COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$current"))`;
}

/** What follows each first word that is not a command by itself: behind a command, an operand may stand. */
function secondWordCases(commands: readonly Completable[], { first, second }: CommandWords): string[] {
  const isCommand = (word: string): boolean => commands.some(({ words }) => words === word);
  const families = [...second].filter(([family, members]) => members.length > 0 && !isCommand(family));
  return [...families, ['help', first] as const, ['completion', SHELLS] as const].map(
    ([word, next]) => `      ${word}) ${replyWith(next)}; return ;;`,
  );
}

/** Tells commands of two words from a command and its operand. */
function twoWordCases({ second }: CommandWords): string[] {
  const commands = [...second].flatMap(([family, members]) =>
    members.map((member) => `"${family} ${member}"`),
  );
  return commands.length > 0 ? [`    ${commands.join('|')}) command="$first $second" ;;`] : [];
}

/** The values of options that have fixed ones. */
function valueCases(commands: readonly Completable[]): string[] {
  return commands.flatMap(({ words, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ name, choices }) => `    "${words} --${name}") ${replyWith(choices)}; return ;;`),
  );
}

/** A case of the shell script for each command, with its options. */
function optionCases(commands: readonly Completable[]): string[] {
  return commands.map(
    ({ words, options }) =>
      `    "${words}") options="${options.map(({ name }) => `--${name}`).join(' ')}" ;;`,
  );
}

/** The completion script for fish. */
function fishScript(commands: readonly Completable[]): string {
  const { second } = wordsOf(commands);
  const summaryOf = (words: string): string => commands.find((one) => one.words === words)?.summary ?? '';
  const lines = [
    '# Completions of portolan for fish.',
    // Whether the words behind `portolan` are those of a command, or go on behind them.
    'function __portolan_is',
    '  set -l words (commandline -opc)',
    '  test "$words[2..-1]" = "$argv"; or string match -q -- "$argv *" "$words[2..-1]"',
    'end',
    'complete -c portolan -n "test (count (commandline -opc)) -eq 1" -f',
    ...[...second].flatMap(([family, all]) => [
      `complete -c portolan -n "test (count (commandline -opc)) -eq 1" -f -a ${family} -d ${fishText(summaryOf(family) || `${all.join(', ')}`)}`,
      ...all.map(
        (member) =>
          `complete -c portolan -n "__portolan_is ${family}; and test (count (commandline -opc)) -eq 2" -f -a ${member} -d ${fishText(summaryOf(`${family} ${member}`))}`,
      ),
    ]),
    `complete -c portolan -n "__portolan_is completion" -f -a "${SHELLS.join(' ')}"`,
    ...commands.flatMap(({ words, options }) =>
      options.map(({ name, description, takesValue, choices }) => {
        // -x: a value, and no file; -r: a value, which may be a file.
        const value = choices.length > 0 ? ` -x -a "${choices.join(' ')}"` : takesValue ? ' -r' : '';
        return `complete -c portolan -n "__portolan_is ${words}" -l ${name}${value} -d ${fishText(description)}`;
      }),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** A text as a word of fish, in single quotes: only backslashes and quotes are escaped there. */
function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
