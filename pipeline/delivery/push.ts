/** The branch moved: which catalogs are to be published. */
import { RULES } from '../../catalog/rules/index.ts';
import { policyAt } from '../config.ts';
import { isAncestor } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import { catalogsAt } from './changed.ts';
import { type CatalogMessage, messageOf, type PushMessage } from './message.ts';
import { tellOutcome } from './outcome.ts';
import type { DeliveryPorts } from './ports.ts';

/**
 * Sends a message for each catalog that differs from what is published, for the branch's newest
 * commit: pushes that came meanwhile need no work of their own.
 *
 * @returns the catalogs that were sent
 */
export async function handlePush(push: PushMessage, ports: DeliveryPorts): Promise<readonly string[]> {
  const { repository, tip, close } = await ports.open(push);
  try {
    if (!(await isOn(repository, push.commit, tip))) {
      ports.log(`${push.commit} is not on ${push.branch} of ${push.repository}: nothing to do`);
      return [];
    }
    const { policy, findings } = await policyAt(repository.objects, tip, RULE_IDS);
    if (!policy) {
      ports.log(`the policy at ${tip} cannot be used: ${findings[0]?.message}`);
      return [];
    }
    const changed = (await catalogsAt(repository, { tip, policy }, ports)).filter(
      ({ isChanged }) => isChanged,
    );
    for (const { catalog } of changed) {
      const { v, repository: name, branch } = push;
      const message: CatalogMessage = { v, kind: 'catalog', repository: name, branch, commit: tip, catalog };
      // Said before it is sent: once it is, its end may be told at any moment.
      await tellOutcome(ports, message, { state: 'pending', detail: tip });
      if (push.commit !== tip) {
        await tellOutcome(ports, { ...message, commit: push.commit }, { state: 'superseded', detail: tip });
      }
      await ports.queue.send(messageOf(message));
    }
    return changed.map(({ catalog }) => catalog);
  } finally {
    await close();
  }
}

/** Ids that a policy may name. */
export const RULE_IDS: readonly string[] = RULES.map(({ id }) => id);

/** Whether a commit is what a branch holds; what it never held is published by nobody. */
export async function isOn(repository: Repository, commit: string, tip: string): Promise<boolean> {
  if (!(await repository.objects.info(commit))) return false;
  return isAncestor(repository, commit, tip);
}
