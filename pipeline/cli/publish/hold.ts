import { plain } from '../../text.ts';
import type { Command } from '../command.ts';
import { actOnRings, RING_DETAILS, RING_OPTIONS } from './ring-options.ts';

export const command: Command = {
  words: 'ring hold',
  operands: 'CATALOG',
  options: {
    commit: { value: 'ID', description: 'hold only the image of this commit (its whole ID)' },
    bundle: { value: 'NAME', description: 'hold only images with this bundle, for example etcd.v1.2.0' },
    release: { description: 'remove the hold with the same --commit and --bundle' },
    ...RING_OPTIONS,
  },
  details: [
    'Images that are held do not move on to the next ring; images that are already there stay. Without --commit and --bundle,',
    'the whole catalog is held. A hold has no end date: it stays until somebody releases it.',
    '',
    RING_DETAILS,
  ].join('\n'),
  examples: [
    'portolan ring hold v4.20 --bundle etcd.v1.2.0 --reason "loses data, see #123"',
    'portolan ring hold v4.20 --bundle etcd.v1.2.0 --release --reason "1.2.0 was withdrawn"',
    'portolan ring hold v4.20 --reason "freeze" --print-message my-org/catalogs > message.json',
  ],
  run: async (invocation, terminal) => {
    const { text, flag, operands } = invocation;
    const isReleased = flag('release');
    const [commit, bundle] = [text('commit'), text('bundle')];
    const act = isReleased ? ('release' as const) : ('hold' as const);
    const acted = await actOnRings(command, invocation, terminal, { act, commit, bundle });
    if (!acted) return 0;
    const what = [operands[0] ?? '', commit?.slice(0, 12), bundle].filter(Boolean).join(' ');
    await terminal.out(`${isReleased ? 'released' : 'held'} ${plain(what)}\n`);
    return 0;
  },
};
