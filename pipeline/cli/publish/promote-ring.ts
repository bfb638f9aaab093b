import { amount, plain } from '../../text.ts';
import type { Command } from '../command.ts';
import { actOnRings, RING_DETAILS, RING_OPTIONS } from './ring-options.ts';

export const command: Command = {
  words: 'ring promote',
  operands: 'CATALOG TAG',
  options: {
    commit: {
      value: 'ID',
      description:
        'promote the image of this commit (its whole ID; default: the newest image of the first ring)',
    },
    ...RING_OPTIONS,
  },
  details: [
    'Opens a ring early, for example for a security fix. Every ring before it opens as well. Images that are held are',
    'refused, and no ring goes back to an older commit. If the policy wants several approvals, each person runs the same command;',
    'the last one opens the ring. Until then, the exit code is 1.',
    '',
    RING_DETAILS,
  ].join('\n'),
  examples: [
    'portolan ring promote v4.20 v4.20 --reason "fixes CVE-2027-1234"',
    'portolan ring promote v4.20 v4.20 --reason "fixes CVE-2027-1234" --print-message my-org/catalogs > message.json',
  ],
  run: async (invocation, terminal) => {
    const [, tag = ''] = invocation.operands;
    const commit = invocation.text('commit');
    const acted = await actOnRings(command, invocation, terminal, { act: 'promote', commit, tag });
    if (!acted) return 0;
    if (acted.missing > 0) {
      await terminal.out(`approved: ${plain(tag)} opens after ${amount(acted.missing, 'more approval')}\n`);
      return 1;
    }
    const image = acted.state.rings.find((ring) => ring.tag === tag)?.image;
    await terminal.out(
      `${plain(tag)}\n  digest  ${image?.digest ?? 'none'}\n  commit  ${image?.commit ?? 'none'}\n`,
    );
    return 0;
  },
};
