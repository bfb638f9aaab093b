/** The branch moved: which catalogs are to be published. */
import { randomUUID } from 'node:crypto';
import { isOn } from '../../git/fetch-commits.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import { policyAt } from '../../policy/read-policy.ts';
import { releaseOrQueue } from './bundles.ts';
import { catalogsAt } from './changed.ts';
import { type CatalogMessage, messageOf, type PushMessage } from './message.ts';
import { isDone, noteWaiting, reportCommit } from './outcome.ts';
import { noteOvertaken, tellOvertaken } from './overtaken.ts';
import { type DeliveryPorts, onBranch } from './ports.ts';
import { retiredFrom, retireMessage } from './retire.ts';

/**
 * Sends a message for each catalog that differs from what is published, for the branch's newest
 * commit, and one behind it for the commit that was pushed.
 *
 * @returns the catalogs that were sent
 */
export async function handlePush(push: PushMessage, ports: DeliveryPorts): Promise<readonly string[]> {
  return onBranch(ports, push, async ({ repository, tip }) => {
    if (!(await isOn(repository, push.commit, tip))) {
      ports.log(`${push.commit} is not on ${push.branch} of ${push.repository}: nothing to do`);
      return [];
    }
    const { v, repository: name, branch } = push;
    const { at, refused } = await newestUsable(repository, push, tip);
    // Before anything that names them is sent.
    const from = { repository: name, branch };
    if (at) await releaseOrQueue({ repository, from, commit: at.tip, policy: at.policy }, push.before, ports);
    const all = at ? await catalogsAt(repository, { ...at, name }, ports) : [];
    const changed = all.filter(({ isChanged }) => isChanged);
    const merge = { repository: name, commit: push.commit };
    const isOvertaken = at !== undefined && push.commit !== at.tip;
    const catalogs = changed.map(({ catalog }) => catalog);
    const ofMerge = isOvertaken ? await noteOvertaken(ports.records, merge, catalogs) : catalogs;
    for (const catalog of new Set([...catalogs, ...ofMerge])) {
      const message: CatalogMessage = { v, kind: 'catalog', repository: name, branch, commit: tip, catalog };
      if (catalogs.includes(catalog)) await sendNewest(message, ports);
      // Behind it in the same group: published itself where the newest cannot be, else told which one was.
      if (push.commit !== tip) {
        await ports.queue.send(messageOf({ ...message, commit: push.commit, behind: tip }));
      }
    }
    const here = { name, branch, tip };
    // Who cannot read the newest policy does not know what it publishes.
    const gone =
      at?.tip === tip
        ? await retiredFrom(repository, { ...here, policy: at.policy }, { all, records: ports.records })
        : [];
    for (const current of gone) await ports.queue.send(messageOf(retireMessage(here, current)));
    // Last: no catalog waits for GitHub to take it.
    for (const { commit, detail } of refused) {
      ports.log(`${commit}: ${detail}`);
      await reportCommit(ports, { repository: name, commit }, { state: 'refused', detail });
    }
    if (isOvertaken && ofMerge.length === 0) await tellOvertaken(ports, merge, tip);
    return catalogs;
  });
}

/**
 * Sends the message that a catalog of the newest commit is to be published, also if that commit was published
 * before.
 */
async function sendNewest(message: CatalogMessage, { records, queue }: DeliveryPorts): Promise<void> {
  // Noted before it is sent: once it is, its end may be reported at any moment.
  const outcome = await noteWaiting(records, message);
  if (!isDone(outcome)) return queue.send(messageOf(message));
  // What was reported as its end is not so any more: the branch came back to it, perhaps not for the first time.
  await queue.send({ ...messageOf({ ...message, again: true }), id: randomUUID() });
}

interface UsablePolicy {
  /** Undefined where no commit's policy can be used. */
  readonly at: { readonly tip: string; readonly policy: Policy } | undefined;
  readonly refused: readonly { readonly commit: string; readonly detail: string }[];
}

/** The newest commit, or the one that was pushed where the newest one's policy cannot be used. */
async function newestUsable(repository: Repository, push: PushMessage, tip: string): Promise<UsablePolicy> {
  const refused: { commit: string; detail: string }[] = [];
  for (const commit of new Set([tip, push.commit])) {
    const { policy, findings } = await policyAt(repository.objects, commit);
    if (policy) return { at: { tip: commit, policy }, refused };
    refused.push({ commit, detail: `the policy is not valid: ${findings[0]?.message}` });
  }
  return { at: undefined, refused };
}
