/** What an event is about: the heads whose statuses are pending from now on, until their check has ended. */
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { PipelineError } from '../error.ts';
import { concernedHeads } from '../forge/dependents.ts';
import { gatedHeads, type Head, headsOf } from '../forge/head.ts';
import { isForeign } from '../forge/status.ts';
import { isObjectId } from '../git/objects.ts';
import { mayAsk, mayCheck } from '../github/commands.ts';
import { gitHubForge } from '../github/forge.ts';
import type { Event, PullRequestEvent } from './event.ts';
import type { Forge } from './forge.ts';

/** The heads that an event is about; none where nothing is to be checked. */
interface MeantHeads {
  readonly heads: readonly Head[];
  /** Why there are none; without meaning if there are some. */
  readonly why: string;
}

/**
 * The heads that an event asks to check, or why there are none.
 *
 * @throws PipelineError as the client and the fetching do
 */
export async function headsMeant(forge: Forge, event: Event, now: Date): Promise<MeantHeads> {
  const ports = { ...forge, forge: gitHubForge(forge) };
  const listed = async (selection: Parameters<typeof headsOf>[1]): Promise<MeantHeads> =>
    aboutHeads(await gatedHeads(ports, headsOf(await ports.forge.readOpen(), selection)));
  switch (event.kind) {
    case 'pull request': {
      const { head, base, branch, previousHead } = event;
      // The status of its head counted it, and must not any more if other pull requests have that head.
      if (event.action === 'closed') return listed({ kind: 'commit', commit: head });
      const open = await ports.forge.readOpen();
      const others =
        previousHead === undefined || previousHead === head
          ? []
          : headsOf(open, { kind: 'commit', commit: previousHead });
      const own = withOwn(headsOf(open, { kind: 'commit', commit: head }), event);
      return aboutHeads(await gatedHeads(ports, [own, ...others], new Map([[branch, base]])));
    }
    case 'recheck': {
      const { number } = event;
      // Anybody may comment, so checks are limited. Comments can be deleted: the checks of the commit are counted, too.
      const often = { heads: [], why: `pull request ${number} was asked about too often in the last hour` };
      if (!(await mayAsk(forge, number, now))) return often;
      const heads = headsOf(await ports.forge.readOpen(), { kind: 'pull', number });
      const [head] = heads;
      if (!head) return { heads, why: `pull request ${number} is closed` };
      if (!(await mayCheck(forge, head.commit, now))) return often;
      return aboutHeads(await gatedHeads(ports, heads));
    }
    case 'commit signal':
      return listed({ kind: 'commit', commit: event.commit });
    case 'status':
      if (!(await isForeign(ports.forge, event.commit)))
        // Portolan's own status, too, causes this event.
        return { heads: [], why: 'the status is the one that was found' };
      return listed({ kind: 'commit', commit: event.commit });
    case 'push':
    case 'moved': {
      const { branch, before, commit: after } = event;
      const { heads } = await listed({ kind: 'branch', branch });
      return aboutHeads(await concernedHeads(forge, heads, { branch, before, after }));
    }
    case 'clock':
      return listed({ kind: 'all' });
    case 'group': {
      const own = { commit: event.head, pulls: [], branches: [event.branch] };
      return aboutHeads(await gatedHeads(ports, [own]));
    }
    case 'none':
      return { heads: [], why: event.why };
  }
}

/**
 * The head of a pull request's event, with the other pull requests that the list has for it. The event's own is added: GitHub's
 * list may be older than the event.
 */
function withOwn([listed]: readonly Head[], { number, head, branch }: PullRequestEvent): Head {
  const own = { commit: head, pulls: [number], branches: [branch] };
  if (!listed) return own;
  return {
    ...listed,
    pulls: [...new Set([number, ...listed.pulls])],
    branches: [...new Set([branch, ...listed.branches])],
  };
}

/** Heads with the reason that counts if the list is empty. */
function aboutHeads(heads: readonly Head[]): MeantHeads {
  return { heads, why: 'there is no open pull request to check to a gated branch' };
}

/** A head as one job names it for another. */
export type StartedHead = Pick<Head, 'commit' | 'pulls' | 'hasNoStatus'>;

/** Heads as one job writes them for another. */
export function startedText(heads: readonly StartedHead[]): string {
  return JSON.stringify(heads.map(({ commit, pulls, hasNoStatus }) => ({ commit, pulls, hasNoStatus })));
}

/** The heads that an earlier job has started, from its output. @throws PipelineError `usage` for anything but heads */
export function startedIn(text: string): StartedHead[] {
  const value = parsedJson(text);
  if (Array.isArray(value) && value.every(isHead)) return value;
  throw new PipelineError('usage', 'the input started does not hold commits with their pull requests');
}

/** Whether a value is a head as {@link startedText} writes it. */
function isHead(value: unknown): value is StartedHead {
  if (!isObject(value)) return false;
  const { commit, pulls, hasNoStatus = true } = value;
  // JSON leaves the member out where it is undefined.
  if (hasNoStatus !== true) return false;
  const isCommit = typeof commit === 'string' && isObjectId(commit);
  return isCommit && Array.isArray(pulls) && pulls.every((one) => Number.isSafeInteger(one) && one > 0);
}
