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

/** An option as shells complete it. */
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

/** The words that can follow others in the words of commands: `plan` and `list` after `mirror`, all first words after ``. */
function nextWords(commands: readonly Completable[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, Set<string>>();
  for (const { words } of commands) {
    const all = words.split(' ');
    for (const [i, word] of all.entries()) {
      const before = all.slice(0, i).join(' ');
      next.set(before, (next.get(before) ?? new Set<string>()).add(word));
    }
  }
  return new Map([...next].map(([before, words]) => [before, [...words]]));
}

/** The completion script for bash, and for zsh, which supports those of bash. */
function bashScript(commands: readonly Completable[], shell: 'bash' | 'zsh'): string {
  const lines = [
    `# Completions of portolan for ${shell}.`,
    ...(shell === 'zsh' ? ['autoload -Uz bashcompinit && bashcompinit'] : []),
    '_portolan() {',
    `  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"`,
    // All words between `portolan` and the current one. zsh takes a count that begins with a letter for something else.
    `  local typed="\${COMP_WORDS[*]:1:$((COMP_CWORD-1))}" command="" options=""`,
    '  COMPREPLY=()',
    '  case "$typed" in',
    ...nextWordCases(commands),
    '  esac',
    '  case "$typed " in',
    ...commandCases(commands),
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

/** What follows words that are not a command by themselves: behind a command, an operand may stand. */
function nextWordCases(commands: readonly Completable[]): string[] {
  const next = nextWords(commands);
  const first = next.get('') ?? [];
  const commandWords = new Set(commands.map(({ words }) => words));
  const families = [...next].filter(([before]) => before !== '' && !commandWords.has(before));
  return [
    `    "") ${replyWith(['help', ...first])}; return ;;`,
    `    help) ${replyWith(first)}; return ;;`,
    `    completion) ${replyWith(SHELLS)}; return ;;`,
    ...families.map(([before, words]) => `    "${before}"|"help ${before}") ${replyWith(words)}; return ;;`),
  ];
}

/** Finds the command that the typed words begin with. The longest comes first: the others may begin like it. */
function commandCases(commands: readonly Completable[]): string[] {
  return commands
    .map(({ words }) => words)
    .sort((a, b) => b.length - a.length)
    .map((words) => `    "${words} "*) command="${words}" ;;`);
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
  const next = nextWords(commands);
  /** Offers a word where exactly the words before it are typed. What is not a command by itself is described by what can follow. */
  const fishWord = (before: string, word: string): string => {
    const [typed, words] = before === '' ? [0, word] : [before.split(' ').length, `${before} ${word}`];
    // fish counts the program, too.
    const where = `test (count (commandline -opc)) -eq ${typed + 1}${before === '' ? '' : `; and __portolan_is ${before}`}`;
    const description = commands.find((one) => one.words === words)?.summary ?? next.get(words)?.join(', ');
    return `complete -c portolan -n "${where}" -f -a ${word} -d ${fishText(description ?? '')}`;
  };
  const lines = [
    '# Completions of portolan for fish.',
    // Whether the words behind `portolan` are those of a command, or go on behind them.
    'function __portolan_is',
    '  set -l words (commandline -opc)',
    '  test "$words[2..-1]" = "$argv"; or string match -q -- "$argv *" "$words[2..-1]"',
    'end',
    'complete -c portolan -n "test (count (commandline -opc)) -eq 1" -f',
    ...[...next].flatMap(([before, following]) => following.map((word) => fishWord(before, word))),
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
