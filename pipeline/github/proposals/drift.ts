/**
 * What no pull request brings and nobody notices: waivers that have run out, owners whose
 * accounts are gone, catalogs that were merged and never published, tags that somebody else moved.
 */
import { compareText } from '../../../catalog/go/text.ts';
import { tryParseReference } from '../../../catalog/reference.ts';
import { packageFolders } from '../../change/unit.ts';
import { PipelineError } from '../../error.ts';
import { fetchCommits } from '../../git/fetch-commits.ts';
import { formatIdentity, type Identity, resolvePeople } from '../../policy/identity.ts';
import { ownersReader } from '../../policy/owners/owners.ts';
import { type Policy, withTag } from '../../policy/policy.ts';
import type { Registry } from '../../ports.ts';
import { catalogIdentity, publishedCatalogs } from '../../publish/published-catalogs.ts';
import { matchesGlob, placeText } from '../../text.ts';
import type { GitHub } from '../client.ts';
import { type Deployed, lastDeployed } from '../deployments.ts';
import { readDirectory } from '../directory.ts';
import type { ProposalPorts } from './state.ts';

export interface Drift {
  readonly kind: 'waiver' | 'owner' | 'unpublished' | 'moved' | 'tag' | 'unknown';
  /** Its subject: a rule, a package or a catalog. */
  readonly of: string;
  readonly message: string;
  /** The recommended action. */
  readonly hint: string;
}

interface DriftPorts extends ProposalPorts {
  readonly registry: Registry;
}

interface DriftRequest {
  /** Id of the branch's tip. */
  readonly commit: string;
  readonly policy: Policy;
  /** The day of the check, `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

/** Everything that has drifted. */
export async function driftOf(ports: DriftPorts, request: DriftRequest): Promise<Drift[]> {
  return [
    ...expiredWaivers(request),
    ...(await lostOwners(ports, request)),
    ...(await catalogDrift(ports, request)),
  ];
}

function expiredWaivers({ policy, today }: DriftRequest): Drift[] {
  return policy.waivers
    .filter(({ until }) => until < today)
    .map(({ rule, package: name, until, location }) => ({
      kind: 'waiver',
      of: rule,
      message: `waiver for ${rule} on ${name} expired on ${until}`,
      hint: `remove it from ${location ? placeText(location) : 'the policy'}, or fix what it waived`,
    }));
}

/** Identities that are asked for together: fewer than `readDirectory` takes at once. */
const TOGETHER = 100;

/** Accounts and teams that the policy or files of owners name, and that no longer exist or do not count. */
async function lostOwners(ports: DriftPorts, request: DriftRequest): Promise<Drift[]> {
  const lists = await ownerLists(ports, request);
  const all = lists.flatMap(({ identities }) => identities);
  const reasons = await reasonsToIgnore(ports.github, request.policy, all);
  return lists.flatMap(({ of, identities }) =>
    identities.flatMap((one): Drift[] => {
      const why = reasons.get(formatIdentity(one));
      const hint = 'list another account, or pin this one: login#number';
      return why === undefined ? [] : [{ kind: 'owner', of, message: why, hint }];
    }),
  );
}

/** The identities that own each package, and those that the policy names for the repository. */
async function ownerLists(
  { repository: { objects } }: DriftPorts,
  { commit, policy }: DriftRequest,
): Promise<{ readonly of: string; readonly identities: readonly Identity[] }[]> {
  const reader = ownersReader(objects, commit, policy);
  const folders = await packageFolders(objects, commit, policy.layout);
  const names = [...new Set(folders.map(({ package: name }) => name))].sort(compareText);
  const lists = await Promise.all(
    names.map(async (name) => {
      // Owners are those of files: any name in the folder does.
      const paths = folders.filter((folder) => folder.package === name).map(({ path }) => `${path}/_`);
      return { of: `package ${name}`, identities: (await reader.ownersOf(name, paths)).identities };
    }),
  );
  return [...lists, { of: 'the policy', identities: [...policy.owners.admins, ...policy.owners.blocked] }];
}

/** Why identities do not count, by their texts; those that count are not among them. */
async function reasonsToIgnore(
  github: GitHub,
  policy: Policy,
  identities: readonly Identity[],
): Promise<ReadonlyMap<string, string>> {
  const distinct = [...new Map(identities.map((one) => [formatIdentity(one), one])).values()];
  const reasons = new Map<string, string>();
  for (let i = 0; i < distinct.length; i += TOGETHER) {
    const batch = distinct.slice(i, i + TOGETHER);
    const directory = await readDirectory(github, batch);
    for (const one of batch) {
      const [why] = resolvePeople([one], { directory, allowTeams: policy.owners.allowTeams }).ignored;
      if (why !== undefined) reasons.set(formatIdentity(one), why);
    }
  }
  return reasons;
}

async function catalogDrift(ports: DriftPorts, request: DriftRequest): Promise<Drift[]> {
  const { objects } = ports.repository;
  const names = await publishedCatalogs(objects, request.commit, request.policy);
  return (await Promise.all(names.map((name) => driftOfCatalog(ports, request, name)))).flat();
}

/** How a catalog's published image differs from the branch, or from what its tag names. */
async function driftOfCatalog(
  { github, name: place, repository, registry }: DriftPorts,
  { commit, policy }: DriftRequest,
  name: string,
): Promise<Drift[]> {
  const hint = 'run the publish workflow again';
  const last = await lastDeployed(github, place, name);
  if (!last) return [{ kind: 'unpublished', of: name, message: `catalog ${name} was never published`, hint }];
  const tag = await movedTag(registry, { policy, name, last });
  const fetched = await fetchCommits(repository, new Set([last.commit]));
  if (!fetched.has(last.commit)) {
    const message = `catalog ${name} is published as of ${last.commit.slice(0, 12)}, which is no longer in the repository`;
    return [{ kind: 'unknown', of: name, message, hint }, ...tag];
  }
  const [published, now] = await Promise.all(
    [last.commit, commit].map((id) => catalogIdentity(repository.objects, id, { policy, name })),
  );
  const found: Drift[] = [];
  if (published !== now) {
    const message = `catalog ${name} is published as of ${last.commit.slice(0, 12)}, but the branch has a different version`;
    found.push({ kind: 'unpublished', of: name, message, hint });
  }
  return [...found, ...tag];
}

/** That somebody else moved a catalog's tag, or removed it; nothing if the tag is as published. */
async function movedTag(
  registry: Registry,
  { policy, name, last }: { readonly policy: Policy; readonly name: string; readonly last: Deployed },
): Promise<Drift[]> {
  const target = policy.publish.catalogs.find(({ pattern }) => matchesGlob(pattern, name));
  // A publish moves only the tag of the first ring.
  const [first] = target?.rings ?? [];
  const written = target && (first ? withTag(target.image, first.tag) : target.image);
  const image = written?.replaceAll('{catalog}', name) ?? '';
  const reference = tryParseReference(image);
  if (!reference || last.digest === undefined) return [];
  try {
    const digest = (await registry.resolve(reference))?.digest;
    if (digest === last.digest) return [];
    const message =
      digest === undefined
        ? `${image} is missing in its registry; Portolan published ${last.digest}`
        : `${image} is ${digest}, but Portolan published ${last.digest}`;
    return [{ kind: 'moved', of: name, message, hint: 'check who pushed it, and publish again' }];
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return [{ kind: 'unknown', of: name, message: `${image}: ${error.message}`, hint: 'try again later' }];
  }
}
