/** Options as people mistype them, for every command. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Command } from '../../../pipeline/cli/command.ts';
import { COMMAND_GROUPS, COMMANDS, EVERYDAY } from '../../../pipeline/cli/commands.ts';
import { folder } from '../../fakes/folder.ts';
import { runCommand } from '../../fakes/terminal.ts';

const commands = await Promise.all(COMMANDS.map(({ load }) => load()));

/** As many operands as a command needs. */
function operandsOf({ operands }: Command): string[] {
  return operands.split(' ').filter((word) => word !== '' && !word.startsWith('['));
}

const listed = commands.flatMap((command) =>
  Object.entries(command.options).flatMap(([option, { value = '' }]) =>
    /^[a-z0-9.|-]+$/.test(value) ? [{ command, words: command.words, option, value }] : [],
  ),
);

test.each(listed)(
  '$words --$option takes no other words than the help lists',
  async ({ command, option, value }) => {
    const typed = [...command.words.split(' '), ...operandsOf(command), `--${option}`, 'none-of-them'];
    const last = value.split('|').at(-1);
    expect(await runCommand(typed)).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringMatching(`--${option} must be .*${last}, not "none-of-them"`),
    });
  },
);

const valued = commands.flatMap((command) =>
  Object.entries(command.options).flatMap(([option, { value, short }]) =>
    value === undefined
      ? []
      : [`--${option}`, ...(short === undefined ? [] : [`-${short}`])].map((typed) => ({
          command,
          words: command.words,
          typed,
        })),
  ),
);

test.each(valued)(
  '108: $words $typed takes no option for its value, --help neither',
  async ({ command, typed }) => {
    const words = [...command.words.split(' '), ...operandsOf(command)];
    for (const value of ['--help', '-h', '--all', typed]) {
      const { exit, out, err } = await runCommand([...words, typed, value]);
      expect({ exit, out }).toEqual({ exit: 2, out: '' });
      expect(err).toContain(`${typed}`);
    }
    expect(await runCommand([...words, typed, '--base', '--help'])).toMatchObject({ exit: 2, out: '' });
    expect((await runCommand([...words, typed, 'x', '--help'])).out).toContain(
      `Usage: portolan ${command.words}`,
    );
  },
);

test('help is help before and behind whatever is wrong, but not where operands begin', async () => {
  for (const words of [
    ['--zzz', '--help'],
    ['-h', '--head'],
    ['--help', '--base', '--head'],
  ])
    expect((await runCommand(['check', ...words])).out).toContain('Usage: portolan check');
  expect((await runCommand(['check', '--base', '-', '--help'])).exit).toBe(0);
  expect((await runCommand(['validate', '--', '--help'])).err).toContain('--help: no such file');
});

test('the usage line shows what a command requires, and all that is missing is named at once', async () => {
  expect((await runCommand(['deprecate', '--help'])).out).toMatch(
    /^Usage: portolan deprecate DIR --package PACKAGE --message TEXT \[OPTION…\]\n/,
  );
  expect((await runCommand(['deprecate', '.'])).err).toContain('--package and --message are required\n');
  expect((await runCommand(['deprecate', '.', '--package', 'a'])).err).toContain('--message is required\n');
  expect((await runCommand(['prune', '.'])).err).toContain('portolan prune DIR --keep PACKAGE… [');
});

test('the option that was probably meant is named', async () => {
  const { exit, err } = await runCommand(['check', '--base', 'main', '--haed', 'x']);
  expect({ exit, err }).toEqual({
    exit: 2,
    err: "portolan: unknown option '--haed': did you mean --head?\n  usage: portolan check --base REF [OPTION…] (portolan check --help)\n",
  });
  for (const option of ['--format', '--output', '-o'])
    expect((await runCommand(['status', option, 'json'])).err).toContain(
      `'${option}': did you mean --json?\n`,
    );
  expect((await runCommand(['check', '--zzzzzz'])).err).toContain("portolan: unknown option '--zzzzzz'\n");
});

test('the first help lists a dozen everyday commands, and names the list of all', async () => {
  const { exit, out } = await runCommand(['--help']);
  const lines = out.split('\nEveryday commands:\n')[1]?.split('\n\n')[0]?.split('\n') ?? [];
  expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual(
    EVERYDAY.map((words) => [words, COMMANDS.find((one) => one.words === words)?.summary]),
  );
  expect(lines).toHaveLength(12);
  expect(out).toContain(`\nRun portolan help --all to list all ${COMMANDS.length} commands.\n`);
  expect(exit).toBe(0);
  expect(await runCommand(['help'])).toEqual({ exit, out, err: '' });
});

test('help --all lists every command once, in groups, with the summary of its own help', async () => {
  const { exit, out } = await runCommand(['help', '--all']);
  expect(await runCommand(['--help', '--all'])).toEqual({ exit, out, err: '' });
  for (const { title, commands: members } of COMMAND_GROUPS) {
    const group = out.split(`\n${title}:\n`)[1]?.split('\n\n')[0]?.split('\n') ?? [];
    expect(group.map((line) => line.trim().split(/ {2,}/))).toEqual(
      members.map(({ words, summary }) => [words, summary]),
    );
  }
  const [words, summary] = [COMMANDS[0]?.words ?? '', COMMANDS[0]?.summary];
  expect((await runCommand([words, '--help'])).out.split('\n')[2]).toBe(`${summary}.`);
  expect(new Set(COMMANDS.map((entry) => entry.words)).size).toBe(COMMANDS.length);
});

test('help for a family lists its commands, however it is asked for', async () => {
  const { exit, out, err } = await runCommand(['help', 'mirror']);
  expect({ exit, err }).toEqual({ exit: 0, err: '' });
  expect(out).toContain('mirror plan');
  expect(await runCommand(['mirror', '--help'])).toEqual({ exit, out, err });
  // Without help the word that is missing is an error.
  expect(await runCommand(['mirror'])).toEqual({ exit: 2, out: '', err: out });
});

test.each(COMMANDS)('the summary of $words is a verb phrase without a full stop', ({ summary }) => {
  expect(summary).toMatch(/^[A-Z][a-z]+ .*[^.]$/);
});

test('arguments that are missing or too many are named', async () => {
  expect((await runCommand(['validate'])).err).toContain('portolan: missing argument: DIR\n');
  expect((await runCommand(['validate', 'a', 'b'])).err).toContain('portolan: unexpected argument "b"\n');
  expect((await runCommand(['chekc'])).err).toBe(
    'portolan: unknown command "chekc"\n  did you mean: portolan check\n',
  );
});

test('--json is short for --format json wherever a command can print JSON', async () => {
  const directory = folder();
  writeFileSync(
    join(directory, 'catalog.json'),
    '{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}',
  );
  const audit = (...options: string[]) => runCommand(['audit', '.', ...options], { directory });
  const both = await audit('--json', '--format', 'text');
  expect([both.exit, both.err]).toEqual([
    2,
    expect.stringContaining('--json and --format text cannot be used together'),
  ]);
  const { out } = await audit('--json');
  expect(JSON.parse(out).findings.length).toBeGreaterThan(0);
  expect((await audit('--format', 'json')).out).toBe(out);
  const json = commands.filter(({ options }) => options['format']?.value?.split('|').includes('json'));
  expect(json.length).toBeGreaterThan(5);
  for (const { words } of json)
    expect((await runCommand([...words.split(' '), '--help'])).out).toContain('--json ');
  const without = commands.find(
    ({ options, passthrough }) => !passthrough && options['format'] === undefined,
  );
  expect((await runCommand([...(without?.words.split(' ') ?? []), '--json'])).err).toContain(
    "unknown option '--json'",
  );
});
