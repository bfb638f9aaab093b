/** What the commands that act on rings have in common. */
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { isObjectId } from '../../git/objects.ts';
import type { Registry } from '../../ports.ts';
import { actOnLocalRings } from '../../publish/delivery/local.ts';
import { type RingMessage, readRing } from '../../publish/delivery/message.ts';
import { handleRing, type RingActed } from '../../publish/delivery/ring.ts';
import { searchPath, type Terminal } from '../../terminal.ts';
import { amountText, plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { portsInRefs } from './status.ts';

const RING_OPTIONS: Command['options'] = {
  reason: { value: 'TEXT', description: 'why; recorded and shown to everybody', required: true },
  by: { value: 'NAME', description: 'who; recorded (default: GITHUB_ACTOR, USER, else the account)' },
  local: {
    value: 'DIR',
    description: 'directory of portolan publish --local (default: .portolan)',
  },
  fence: {
    value: 'repo|URL',
    description:
      'instead of --local: the git repository with the refs of the Action (token: PORTOLAN_GIT_TOKEN)',
  },
  repo: { value: 'DIR', description: 'path of the repository with the policy (default: current directory)' },
  'print-message': {
    former: 'message',
    value: 'OWNER/NAME',
    description: 'print the message for the queue of the functions instead; sending it is up to you',
  },
  branch: { value: 'NAME', description: 'for --print-message: the branch that is published (default: main)' },
  ...REGISTRY_OPTIONS,
};

const RING_DETAILS: string = [
  'With --print-message, Portolan changes nothing and prints a JSON message for the work queue of the functions (see the example).',
  'Anybody who can write to the queue or to the directory can hold, release and promote. --by is recorded, not checked.',
].join('\n');

/** The name of the account that runs this; undefined for a number without an account, as in containers. */
function accountName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** What the message says besides who asks, why, and about which catalog. */
type RingAct = {
  readonly [key in 'commit' | 'bundle' | 'tag']?: RingMessage[key] | undefined;
} & Pick<RingMessage, 'act'>;

/**
 * Acts on the rings of the catalog that the first operand names.
 *
 * @returns undefined where the message was printed instead
 * @throws PipelineError as `handleRing`; `usage` without a reason or a name
 */
async function actOnRings(
  command: Command,
  invocation: Invocation,
  terminal: Terminal,
  act: RingAct,
): Promise<RingActed | undefined> {
  const { environment, directory, now, out } = terminal;
  const by = invocation.text('by') ?? (environment['GITHUB_ACTOR'] || environment['USER'] || accountName());
  if (!by) throw usageError(command, '--by is missing, and the account that runs this has no name');
  const repository = invocation.text('print-message');
  const places = ['print-message', 'fence', 'local'].filter((name) => invocation.text(name) !== undefined);
  if (places.length > 1)
    throw usageError(command, `${places.map((name) => `--${name}`).join(' and ')} cannot be used together`);
  if (repository === undefined && invocation.text('branch') !== undefined)
    throw usageError(command, '--branch needs --print-message');
  const { commit } = act;
  if (commit !== undefined && !isObjectId(commit))
    throw usageError(
      command,
      `--commit must be a whole commit ID, as git rev-parse prints it, not ${JSON.stringify(commit)}`,
    );
  const said = { by, why: invocation.needed('reason') };
  // A queue may deliver a message late or twice. By its time, a release lifts no later hold, and a promotion no later
  // image.
  const isSent = repository !== undefined && act.act !== 'hold';
  const asked = isSent ? { asked: now().toISOString() } : {};
  const whole = { catalog: invocation.operands[0], ...act, ...said, ...asked };
  // Only a printed message is about a repository and a branch; everywhere else, they only have to be valid.
  const from = { repository: repository ?? 'local/catalogs', branch: invocation.text('branch') ?? 'main' };
  // Read as the functions read it from the queue: what they would refuse is refused here.
  const message = readRing(JSON.stringify({ v: 1, kind: 'ring', ...from, ...whole }));
  if (repository !== undefined) {
    await out(`${JSON.stringify(message)}\n`);
    return undefined;
  }
  const client = registryClientFor(invocation, terminal, { named: [] });
  const fence = invocation.text('fence');
  try {
    if (fence !== undefined) return await actOnRefs(fence, client, { invocation, terminal, message });
    const request = {
      repository: resolve(directory, invocation.text('repo') ?? '.'),
      settings: searchPath(terminal),
      revision: 'HEAD',
      directory: resolve(directory, invocation.text('local') ?? '.portolan'),
      now,
      log: (line: string) => terminal.err(`${plainText(line)}\n`),
    };
    return await actOnLocalRings(request, client, message);
  } finally {
    client.close();
  }
}

interface OnRefs {
  readonly invocation: Invocation;
  readonly terminal: Terminal;
  readonly message: RingMessage;
}

/** Acts on a ring like the Action: the records are refs of a git repository, the clone's own if `place` is `repo`. */
async function actOnRefs(
  place: string,
  registry: Registry,
  { invocation, terminal, message }: OnRefs,
): Promise<RingActed> {
  const { directory, now, err } = terminal;
  const ports = portsInRefs(place, resolve(directory, invocation.text('repo') ?? '.'), terminal);
  try {
    const log = (line: string): void => err(`${plainText(line)}\n`);
    return await handleRing(message, { ...ports, registry, now, log });
  } finally {
    await ports.fence.close();
  }
}

export const hold: Command = {
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
    const acted = await actOnRings(hold, invocation, terminal, { act, commit, bundle });
    if (!acted) return 0;
    const what = [operands[0] ?? '', commit?.slice(0, 12), bundle].filter(Boolean).join(' ');
    await terminal.out(`${isReleased ? 'released' : 'held'} ${plainText(what)}\n`);
    return 0;
  },
};

export const promote: Command = {
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
    const acted = await actOnRings(promote, invocation, terminal, { act: 'promote', commit, tag });
    if (!acted) return 0;
    if (acted.missing > 0) {
      await terminal.out(
        `approved: ${plainText(tag)} opens after ${amountText(acted.missing, 'more approval')}\n`,
      );
      return 1;
    }
    const image = acted.state.rings.find((ring) => ring.tag === tag)?.image;
    await terminal.out(
      `${plainText(tag)}\n  digest  ${image?.digest ?? 'none'}\n  commit  ${image?.commit ?? 'none'}\n`,
    );
    return 0;
  },
};
