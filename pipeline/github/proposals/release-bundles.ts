/**
 * What a push that brings bundles makes of them: each becomes an image, and the catalogs that its
 * `release-config.yaml` names become a pull request, or a commit on the branch, as the policy says. Images
 * are pushed before anything names them.
 */
import type { Finding } from '../../../catalog/finding.ts';
import { formatReference, tryParseReference } from '../../../catalog/reference.ts';
import { refusalsOf } from '../../catalogs/bundle/check-bundle.ts';
import {
  addedBundles,
  type BuiltBundle,
  type BundleName,
  builtBundle,
  bundlesIn,
  bundleTag,
  folderOf,
  pushMade,
} from '../../catalogs/release/bundle-image.ts';
import { releasedTexts } from '../../catalogs/release/release.ts';
import { RELEASE_FILE, refusalFinding } from '../../catalogs/release/release-config.ts';
import { treeRepository } from '../../catalogs/release/release-repository.ts';
import { PipelineError } from '../../error.ts';
import { entryAt } from '../../git/tree.ts';
import { eachOf } from '../../parallel.ts';
import type { Policy, ReleasePolicy } from '../../policy/policy.ts';
import { readablePolicyAt } from '../../policy/read-policy.ts';
import type { Registry } from '../../ports.ts';
import { releaseBody } from '../../report/proposal-text.ts';
import type { Content } from '../git-data.ts';
import { branchFor, commitOnto, type Proposal, type Proposed, proposeChange } from './proposal.ts';
import { branchesBelow, type ProposalPorts } from './state.ts';

interface ReleasePorts extends ProposalPorts {
  /** The repository that bundles are pushed to. */
  readonly registry: Registry;
  /** Asks what a policy allows, of other bundles that no catalog holds yet. */
  readonly registryFor: (policy: Policy) => Registry;
}

export interface ReleaseBundlesRequest {
  readonly branch: string;
  /** Ids of commits that have been brought; bundles that are in the second and not in the first have arrived. */
  readonly before: string;
  readonly commit: string;
  /** Bundles that were refused before, and may have been corrected. */
  readonly refused: readonly BundleName[];
  readonly policy: Policy;
  /** The day for which waivers are checked, `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

/** The result for one bundle. */
export interface BundleRelease extends BundleName {
  /** The pushed image, by digest; undefined when it was refused. */
  readonly image: string | undefined;
  /** Why it was not pushed, or not released; empty when all went well. */
  readonly findings: readonly Finding[];
  readonly proposed: Proposed | undefined;
  /** Id of the commit that released it on the branch. */
  readonly commit: string | undefined;
  /** References by which catalogs name what was refused; an image of an earlier run may be there. */
  readonly missing: readonly string[];
}

/**
 * Releases what has arrived, and looks again at what was proposed before: its pull requests follow the branch.
 *
 * @throws PipelineError as the client, the fetching and the registries; what a bundle itself lacks is a finding
 */
export async function releaseBundles(
  ports: ReleasePorts,
  request: ReleaseBundlesRequest,
): Promise<BundleRelease[]> {
  const { release } = request.policy;
  if (!release) return [];
  const { objects } = ports.repository;
  const trees = { before: request.before, after: request.commit };
  const arrived: readonly BundleName[] = await addedBundles(objects, trees, request.policy);
  const waiting = release.mode === 'off' ? [] : await waitingOf(ports, request.branch);
  const refused = await bundlesIn(objects, request.commit, request.refused);
  // A map keeps the last value of a key: the object of an arrived bundle, by which `arrived.includes` knows it below.
  const all = new Map(
    [...waiting, ...refused, ...arrived].map((one) => [`${one.package}/${one.version}`, one]),
  );
  const releases: BundleRelease[] = [];
  // One after the other: two versions of a package stand in one template.
  for (const bundle of all.values()) {
    const foreseen = arrived.includes(bundle);
    releases.push(await releaseOne(ports, request, { bundle, release, foreseen }));
  }
  return releases;
}

const SUBJECT = 'release';

/** Bundles whose catalogs are proposed already to a branch. */
async function waitingOf(ports: ReleasePorts, base: string): Promise<BundleName[]> {
  const prefix = `${await branchFor(ports, { subject: SUBJECT, base })}/`;
  return (await branchesBelow(ports, prefix)).flatMap((branch) => {
    const [name, version, ...rest] = branch.slice(prefix.length).split('/');
    return name !== undefined && version !== undefined && rest.length === 0
      ? [{ package: name, version }]
      : [];
  });
}

interface BundleToRelease {
  readonly bundle: BundleName;
  readonly release: ReleasePolicy;
  /** Whether the pull request that was merged has shown it, and was checked with it. */
  readonly foreseen: boolean;
}

/** Releases one bundle: pushes its image, and brings it into catalogs if its configuration says so. */
async function releaseOne(
  ports: ReleasePorts,
  request: ReleaseBundlesRequest,
  one: BundleToRelease,
): Promise<BundleRelease> {
  const none = { ...one.bundle, image: undefined, proposed: undefined, commit: undefined, missing: [] };
  const pushed = await pushBundle(ports, request, one);
  if (!pushed) return { ...none, findings: [], proposed: await takeBack(ports, request.branch, one.bundle) };
  if ('findings' in pushed) return { ...none, ...pushed };
  const base = { ...none, image: pushed.reference, findings: [] };
  if (one.release.mode === 'off') return base;
  try {
    return { ...base, ...(await intoCatalogs(ports, request, { ...one, made: pushed })) };
  } catch (error) {
    return { ...base, findings: [findingOf(refusalIn(error), one.bundle)] };
  }
}

/** Commits a bundle to the catalogs if the check saw all of that content, or else opens a pull request. */
async function intoCatalogs(
  ports: ReleasePorts,
  { branch }: ReleaseBundlesRequest,
  { bundle, release, foreseen, made }: BundleToRelease & { readonly made: BuiltBundle },
): Promise<Pick<BundleRelease, 'commit'> | Pick<BundleRelease, 'proposed'>> {
  let fetched = false;
  const fetching = (): void => {
    fetched = true;
  };
  const make = async (tip: string): Promise<Proposal | undefined> => {
    fetched = false;
    return proposalAt(ports, tip, { bundle, made, fetching });
  };
  if (release.mode === 'commit' && foreseen) {
    const checked = async (tip: string): Promise<Proposal | undefined> => {
      const proposal = await make(tip);
      // The check of the pull request fetched no bundles, so it did not see this content.
      return fetched ? undefined : proposal;
    };
    const commit = await commitOnto(ports, { base: branch, make: checked });
    // An incomplete check must not lead to a commit without a review.
    if (commit !== 'protected' && !fetched) return { commit };
  }
  return { proposed: await proposeChange(ports, { subject: subjectOf(bundle), base: branch, make }) };
}

function subjectOf({ package: name, version }: BundleName): string {
  return `${SUBJECT}/${name}/${version}`;
}

/** Takes back what was proposed of a bundle that is gone. */
function takeBack(ports: ReleasePorts, base: string, bundle: BundleName): Promise<Proposed> {
  const { repository } = ports;
  const make = async (tip: string): Promise<'leave-unchanged' | undefined> => {
    await repository.bring([tip]);
    const folder = await entryAt(repository.objects, tip, folderOf(bundle));
    // The branch has the folder again: the run of that push handles it.
    return folder && 'leave-unchanged';
  };
  return proposeChange(ports, { subject: subjectOf(bundle), base, make });
}

/** Returns an error in the bundle's own files, which does not stop the other bundles. @throws all other errors */
function refusalIn(error: unknown): PipelineError {
  if (error instanceof PipelineError && !error.retryable && OF_THE_BUNDLE.has(error.code)) return error;
  throw error;
}

const OF_THE_BUNDLE: ReadonlySet<string> = new Set(['usage', 'not-found', 'too-large', 'conflict']);

function findingOf(error: PipelineError, bundle: BundleName): Finding {
  return refusalFinding(error, { package: bundle.package, folder: folderOf(bundle) });
}

/**
 * Pushes the image of a bundle, or gives findings if it may not be released.
 *
 * @returns undefined for a bundle that no longer exists
 */
async function pushBundle(
  { repository, registry }: ReleasePorts,
  { commit, policy, today }: ReleaseBundlesRequest,
  { bundle, release }: BundleToRelease,
): Promise<BuiltBundle | Pick<BundleRelease, 'findings' | 'missing'> | undefined> {
  const folder = folderOf(bundle);
  let findings: readonly Finding[] = [];
  const missing: string[] = [];
  try {
    const source = await treeRepository(repository.objects, commit).folder(folder);
    if (!source) return undefined;
    // The tag is missing from the start: a folder that is not a bundle gets no image, but a catalog may name the tag.
    missing.push(formatReference(bundleTag(release.bundles, bundle)));
    findings = await refusalsOf(source, { ...bundle, path: folder }, { policy, today });
    const made = await builtBundle(release.bundles, bundle, source);
    missing.push(made.reference);
    if (findings.length > 0) return { findings, missing };
    await pushMade(registry, made);
    return made;
  } catch (error) {
    const refusal = refusalIn(error);
    if (findings.length === 0) findings = [findingOf(refusal, bundle)];
    return { findings, missing };
  }
}

interface MadeBundle {
  readonly bundle: BundleName;
  readonly made: BuiltBundle;
  /** Told when a bundle is fetched that no catalog holds yet. */
  readonly fetching: () => void;
}

/** The catalogs with the bundle added; undefined if they have it already, or if the bundle names none. */
async function proposalAt(
  { repository, registryFor }: ReleasePorts,
  tip: string,
  { bundle, made, fetching }: MadeBundle,
): Promise<Proposal | undefined> {
  await repository.bring([tip]);
  const place = treeRepository(repository.objects, tip);
  const policy = await readablePolicyAt(repository.objects, tip);
  if ((await place.text(`${folderOf(bundle)}/${RELEASE_FILE}`)) === undefined) return undefined;
  const registry = (): Registry => {
    fetching();
    return registryFor(policy);
  };
  const rendering = { directory: '/', registry, only: 'bundles' } as const;
  const { texts, findings } = await releasedTexts(place, { ...bundle, image: made.reference, rendering });
  const [finding] = findings;
  if (finding) throw new PipelineError('usage', finding.message);
  const files = new Map([...texts].map(([path, text]): [string, Content] => [path, Buffer.from(text)]));
  const title = `Release ${bundle.package} ${bundle.version}`;
  return { title, body: releaseBody({ ...bundle, image: made.reference, paths: [...files.keys()] }), files };
}

// Bundles that have arrived on a branch, and which of those that were ever refused no registry has.

/** Questions to registries at a time. */
const REQUESTS = 4;

interface ReleasedArrivals {
  readonly released: readonly BundleRelease[];
  /** References of bundles that were refused, now or before, and that no registry is known to have. */
  readonly missing: ReadonlySet<string>;
}

/**
 * Releases the bundles that arrived since a commit, and those that were missing before.
 *
 * @param request with the references that were missing before
 * @throws PipelineError as {@link releaseBundles}
 */
export async function releaseArrivals(
  ports: ReleasePorts,
  request: ReleaseBundlesRequest & { readonly missing: readonly string[] },
): Promise<ReleasedArrivals> {
  const released = await releaseBundles(ports, request);
  const missing = new Set([...request.missing, ...released.flatMap((one) => one.missing)]);
  // Pushed by this run, by an earlier one under a waiver, or by hand.
  await eachOf([...missing], REQUESTS, async (reference) => {
    if (await isThere(ports.registry, reference)) missing.delete(reference);
  });
  return { released, missing };
}

/** Whether a registry has an image; what it does not answer is taken for no. */
async function isThere(registry: Registry, text: string): Promise<boolean> {
  const reference = tryParseReference(text);
  try {
    return reference !== undefined && (await registry.resolve(reference)) !== undefined;
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return false;
  }
}
