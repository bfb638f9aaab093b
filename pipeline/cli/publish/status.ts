import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parsedJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import { authorizationHeader } from '../../git/process.ts';
import { openRepository } from '../../git/repository.ts';
import type { Registry } from '../../ports.ts';
import { localStatus, recordsIn } from '../../publish/delivery/local.ts';
import type { DeliveryPorts } from '../../publish/delivery/ports.ts';
import {
  type DeliveryStatus,
  isSettled,
  statusBeside,
  statusOf,
  statusText,
} from '../../publish/delivery/status.ts';
import { type GitFence, gitFence } from '../../publish/fence-git.ts';
import { directoryRecords } from '../../publish/records/directory.ts';
import { type RingStore, textRings } from '../../publish/rings/store.ts';
import { type ExitCode, searchPath, type Terminal } from '../../terminal.ts';
import { plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'status',
  operands: '[DIR]',
  options: {
    from: {
      value: '-',
      description: 'read the response of a function on AWS from standard input',
    },
    repo: {
      value: 'DIR',
      description: 'path of the repository with the policy: also compare with it, and with the registry',
    },
    fence: {
      value: 'repo|URL',
      description:
        'instead of DIR: the git repository with the refs of the Action (token: PORTOLAN_GIT_TOKEN)',
    },
    ...REGISTRY_OPTIONS,
    json: { description: 'print the result as JSON' },
  },
  details: [
    'DIR is the directory of portolan publish --local (default: .portolan). With --repo or --fence, each catalog is compared',
    'with the current commit and with its tag: the result has the published commit and its age, the commits after it, the digest',
    'in the registry, rings and holds. For the functions on AWS, pipe the response of the function work to --from - (see the',
    'examples); on Kubernetes, run the role status (docs/kubernetes.md). The exit code is 1 if a catalog is pending, refused,',
    'failed, behind or different, or if a record cannot be read.',
  ].join('\n'),
  examples: [
    'portolan status .portolan',
    'portolan status .portolan --repo .',
    'portolan status --fence https://github.com/my-org/catalogs.git --json',
    'aws lambda invoke --function-name portolan-status /dev/stdout | portolan status --from -',
  ],
  run: async (invocation, terminal) => {
    const places = [invocation.text('from'), invocation.text('fence'), invocation.operands[0]];
    if (places.filter((place) => place !== undefined).length > 1)
      throw usageError(command, 'give one of DIR, --from and --fence');
    // Then the records are compared with a repository and a registry, beside being read.
    const isBeside = invocation.text('fence') !== undefined || invocation.text('repo') !== undefined;
    if (isBeside && invocation.text('from') !== undefined)
      throw usageError(command, '--repo and --from cannot be used together');
    const status = isBeside
      ? await readStatus(invocation, terminal)
      : await read(invocation.operands[0], invocation.text('from'), terminal);
    await terminal.out(invocation.flag('json') ? `${JSON.stringify(status, null, 2)}\n` : statusText(status));
    return exitOf(status);
  },
};

/** 1 while anything is not as it should be. */
function exitOf(status: DeliveryStatus): ExitCode {
  return isSettled(status) ? 0 : 1;
}

/** The status of publishes whose claims are git refs, or whose records are in a local directory. */
async function readStatus(invocation: Invocation, terminal: Terminal): Promise<DeliveryStatus> {
  const client = registryClientFor(invocation, terminal, { named: [] });
  const { directory, now, err } = terminal;
  const settings = searchPath(terminal);
  const repository = resolve(directory, invocation.text('repo') ?? '.');
  const fence = invocation.text('fence');
  try {
    if (fence !== undefined) return await statusInRefs(fence, client, { repository, terminal });
    const local = existingFolder(invocation.operands[0], terminal);
    const log = (line: string): void => void err(`${plainText(line)}\n`);
    return await localStatus({ repository, settings, revision: 'HEAD', directory: local, now, log }, client);
  } finally {
    client.close();
  }
}

/**
 * The status of publishes whose claims are git refs, as the Action and the Tekton task leave them. There are no records.
 */
async function statusInRefs(
  place: string,
  registry: Registry,
  { repository: clone, terminal }: { readonly repository: string; readonly terminal: Terminal },
): Promise<DeliveryStatus> {
  const ports = portsInRefs(place, clone, terminal);
  try {
    const from = { repository: place === 'repo' ? clone : place, branch: 'HEAD' };
    return await statusBeside([from], { ...ports, registry, now: terminal.now });
  } finally {
    await ports.fence.close();
  }
}

/** What git refs keep of publishes, and the repository with the policy. */
interface PortsInRefs extends Pick<DeliveryPorts, 'open'> {
  readonly fence: GitFence;
  readonly ringStore: (catalog: string, name: string) => RingStore;
}

/** The claims and rings in the refs of a git repository, the clone's own if `place` is `repo`. Whoever asks closes the fence. */
export function portsInRefs(place: string, clone: string, terminal: Terminal): PortsInRefs {
  const settings = searchPath(terminal);
  const header = authorizationHeader(terminal.environment['PORTOLAN_GIT_TOKEN']);
  const refs = place === 'repo' ? { repository: clone } : { repository: place, reach: { header } };
  const fence = gitFence({ ...refs, settings });
  const open = async () => {
    const repository = await openRepository(clone, settings);
    const [tip = ''] = await repository.resolve(['HEAD']);
    return { repository, tip, close: repository.close };
  };
  const ringStore = (catalog: string, name: string) => textRings(fence, catalog, name);
  return { fence, open, ringStore };
}

/** The directory of a local publish, by default `.portolan`. @throws PipelineError `not-found` */
export function existingFolder(directory: string | undefined, terminal: Terminal): string {
  const path = resolve(terminal.directory, directory ?? '.portolan');
  if (existsSync(path)) return path;
  throw new PipelineError('not-found', `${path}: no such directory`, {
    hint: 'use the directory of portolan publish --local DIR',
  });
}

/** The status by the records of a local publish, or the one on standard input. */
async function read(
  directory: string | undefined,
  from: string | undefined,
  terminal: Terminal,
): Promise<DeliveryStatus> {
  if (from === undefined) return statusOf(directoryRecords(recordsIn(existingFolder(directory, terminal))));
  return statusFrom(terminal);
}

/**
 * The response of the Status function on standard input.
 *
 * @throws PipelineError `usage` for anything else
 */
export async function statusFrom(terminal: Terminal): Promise<DeliveryStatus> {
  // The aws command writes a summary of its own behind the answer.
  const text = (await terminal.input()).split('\n')[0] ?? '';
  // `Object` makes an empty object of what is not JSON, whose members are then the empty lists below.
  const status = Object(parsedJson(text.replace(/\}\{[^{}]*\}$/, '}'))) as DeliveryStatus;
  // Older functions leave out the lists that came later.
  const { published, last, rings = [], unreadRings = [], unread = [], unreached = [] } = status;
  const { lastFailures = [], catalogs = [] } = status;
  const lists = [published, last, rings, unreadRings, unread, unreached, lastFailures, catalogs];
  if (lists.every(Array.isArray)) return status;
  throw new PipelineError('usage', 'standard input is not a status', {
    hint: 'pipe the response of the Status function',
  });
}
