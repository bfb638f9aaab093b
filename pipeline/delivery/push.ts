/** The branch moved: which catalogs are to be published. */
import { compareText } from '../../catalog/finding.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { catalogUnits } from '../change/unit.ts';
import { POLICY_PATH, policyAt } from '../config.ts';
import { isAncestor } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import { entryAt } from '../git/tree.ts';
import { matchesGlob } from '../policy/layout.ts';
import type { Policy } from '../policy/policy.ts';
import { fenceName } from '../publish/fence.ts';
import { targetOf } from '../publish/target.ts';
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
    const changed = await changedCatalogs(repository, { tip, policy }, ports);
    for (const catalog of changed) {
      const { v, repository: name, branch } = push;
      const message: CatalogMessage = { v, kind: 'catalog', repository: name, branch, commit: tip, catalog };
      // Said before it is sent: once it is, its end may be told at any moment.
      await tellOutcome(ports, message, { state: 'pending', detail: tip });
      if (push.commit !== tip) {
        await tellOutcome(ports, { ...message, commit: push.commit }, { state: 'superseded', detail: tip });
      }
      await ports.queue.send(messageOf(message));
    }
    return changed;
  } finally {
    await close();
  }
}

const RULE_IDS: readonly string[] = RULES.map(({ id }) => id);

/** Whether a commit is what a branch holds; what it never held is published by nobody. */
export async function isOn(repository: Repository, commit: string, tip: string): Promise<boolean> {
  if (!(await repository.objects.info(commit))) return false;
  return isAncestor(repository, commit, tip);
}

interface At {
  /** Id of a commit. */
  readonly tip: string;
  readonly policy: Policy;
}

/** Catalogs with a place in the policy whose content, or policy, is not that of the claimed commit. */
async function changedCatalogs(
  repository: Repository,
  { tip, policy }: At,
  { fence, records }: Pick<DeliveryPorts, 'fence' | 'records'>,
): Promise<string[]> {
  const now = await contentsAt(repository, tip, policy);
  const changed: string[] = [];
  for (const [catalog, content] of now) {
    const name = fenceName(catalog, targetOf(policy, catalog, {}).name);
    const standing = await fence.read(name);
    const isThere = standing && (await records.get(`published/${name}`)) !== undefined;
    const before = isThere ? await contentsBefore(repository, standing.commit, policy) : undefined;
    if (before?.get(catalog) !== content) changed.push(catalog);
  }
  return changed;
}

async function contentsBefore(
  repository: Repository,
  commit: string,
  policy: Policy,
): Promise<ReadonlyMap<string, string> | undefined> {
  // Gone with a history that was rewritten.
  if (!(await repository.objects.info(commit))) return undefined;
  return contentsAt(repository, commit, policy);
}

/** What each catalog's image follows from: ids of its places in the tree, and of the policy. */
async function contentsAt(
  repository: Repository,
  commit: string,
  policy: Policy,
): Promise<Map<string, string>> {
  const written = await entryAt(repository.objects, commit, POLICY_PATH);
  const contents = new Map<string, string>();
  const units = [...(await catalogUnits(repository.objects, commit, policy.layout)).values()];
  for (const { catalog, path, id } of units.sort((a, b) => compareText(a.path, b.path))) {
    if (!policy.publish.catalogs.some(({ pattern }) => matchesGlob(pattern, catalog))) continue;
    contents.set(catalog, `${contents.get(catalog) ?? written?.id ?? ''}\n${path} ${id}`);
  }
  return contents;
}
