/** Options as people mistype them, for every command. */
import { expect, test } from 'vitest';
import type { Command } from '../../../pipeline/cli/command.ts';
import { COMMANDS } from '../../../pipeline/cli/commands.ts';
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

test('the option that was probably meant is named', async () => {
  const { exit, err } = await runCommand(['check', '--base', 'main', '--haed', 'x']);
  expect({ exit, err }).toEqual({
    exit: 2,
    err: "portolan: Unknown option '--haed': did you mean --head?\n  usage: portolan check [OPTION…] (portolan check --help)\n",
  });
  expect((await runCommand(['check', '--zzzzzz'])).err).toContain("portolan: Unknown option '--zzzzzz'\n");
});
