/**
 * What a push that brings bundles makes of them: each becomes an image, and the catalogs that its
 * `release-config.yaml` names become a pull request, or a commit on the branch, as the policy says. Images
 * are pushed before anything names them.
 */
import type { Finding } from '../../catalog/finding.ts';
import { judgeBundle } from '../bundle/judge.ts';
import { policyAt } from '../config.ts';
import { PipelineError } from '../error.ts';
import type { Repository } from '../git/repository.ts';
import { entryAt } from '../git/tree.ts';
import type { GitHub, RepositoryName } from '../github/client.ts';
import type { Content } from '../github/git-data.ts';
import { branchFor, commitOnto, type Proposal, type Proposed, propose } from '../github/proposal.ts';
import { branchesBelow } from '../github/proposal-standing.ts';
import type { Policy, ReleasePolicy } from '../policy/policy.ts';
import type { Registry } from '../ports.ts';
import { arrivedBundles } from '../release/arrived.ts';
import { type BundleName, type MadeBundle, madeBundle, pushMade } from '../release/bundle-image.ts';
import { treePlace } from '../release/place.ts';
import { RELEASE_FILE } from '../release/wanted.ts';
import { releaseBody } from '../report/release-text.ts';
import { releasedTexts } from './release.ts';

export interface ReleasePorts {
  readonly github: GitHub;
  readonly name: RepositoryName;
  readonly repository: Repository;
  /** Where bundles are pushed. */
  readonly registry: Registry;
  /** Asks what a policy allows, of other bundles that no catalog holds yet. */
  readonly registryFor: (policy: Policy) => Registry;
}

export interface ReleaseBundlesRequest {
  readonly branch: string;
  /** Ids of commits that have been brought; bundles that are in the second and not in the first have arrived. */
  readonly before: string;
  readonly commit: string;
  readonly policy: Policy;
}

/** What became of one bundle. */
export interface BundleRelease extends BundleName {
  /** The pushed image, by digest; undefined when it was refused. */
  readonly image: string | undefined;
  /** Why it was not pushed, or not released; empty when all went well. */
  readonly findings: readonly Finding[];
  readonly proposed: Proposed | undefined;
  /** Id of the commit that released it on the branch. */
  readonly commit: string | undefined;
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
  const arrived: readonly BundleName[] = await arrivedBundles(objects, trees, request.policy);
  const waiting = release.mode === 'off' ? [] : await waitingOf(ports, request.branch);
  const all = new Map([...waiting, ...arrived].map((one) => [`${one.package}/${one.version}`, one]));
  const releases: BundleRelease[] = [];
  // One after the other: two versions of a package stand in one template.
  for (const bundle of all.values()) releases.push(await releaseOne(ports, request, { bundle, release }));
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

interface One {
  readonly bundle: BundleName;
  readonly release: ReleasePolicy;
}

async function releaseOne(
  ports: ReleasePorts,
  { branch, commit }: ReleaseBundlesRequest,
  { bundle, release }: One,
): Promise<BundleRelease> {
  const none = { ...bundle, image: undefined, proposed: undefined, commit: undefined };
  try {
    const pushed = await pushBundle(ports, commit, { bundle, release });
    if (!pushed) return { ...none, findings: [], proposed: await takeBack(ports, branch, bundle) };
    const { made, findings } = pushed;
    if (!made) return { ...none, findings };
    const base = { ...none, image: made.reference, findings: [] };
    if (release.mode === 'off') return base;
    const make = (tip: string): Promise<Proposal | undefined> => proposalAt(ports, tip, { bundle, made });
    if (release.mode === 'commit') {
      const done = await commitOnto(ports, { base: branch, make });
      if (done !== 'protected') return { ...base, commit: done };
    }
    return { ...base, proposed: await propose(ports, { subject: subjectOf(bundle), base: branch, make }) };
  } catch (error) {
    // What people wrote is theirs to correct; the other bundles go on.
    if (!(error instanceof PipelineError) || error.retryable || !OF_THE_BUNDLE.has(error.code)) throw error;
    return { ...none, findings: [findingOf(error, bundle)] };
  }
}

function subjectOf({ package: name, version }: BundleName): string {
  return `${SUBJECT}/${name}/${version}`;
}

/** Takes back what was proposed of a bundle that is gone. */
function takeBack(ports: ReleasePorts, base: string, bundle: BundleName): Promise<Proposed> {
  const { repository } = ports;
  const make = async (tip: string): Promise<'as it stands' | undefined> => {
    await repository.bring([tip]);
    const folder = await entryAt(repository.objects, tip, folderOf(bundle));
    // It came back meanwhile: that is for the run which was told of it.
    return folder && 'as it stands';
  };
  return propose(ports, { subject: subjectOf(bundle), base, make });
}

const OF_THE_BUNDLE: ReadonlySet<string> = new Set(['usage', 'not-found', 'too-large', 'conflict']);

function folderOf({ package: name, version }: BundleName): string {
  return `operators/${name}/${version}`;
}

function findingOf({ message, hint }: PipelineError, bundle: BundleName): Finding {
  const location = { file: `${folderOf(bundle)}/${RELEASE_FILE}`, line: 1, column: 1 };
  return {
    rule: 'release/refused',
    severity: 'error',
    message,
    location,
    package: bundle.package,
    ...(hint === undefined ? {} : { hint }),
  };
}

/** A finding of a bundle's own, with its place in the repository. */
function placedIn(finding: Finding, bundle: BundleName): Finding {
  const { location } = finding;
  const file = `${folderOf(bundle)}/${location.file}`;
  return { ...finding, package: bundle.package, location: { ...location, file } };
}

/** @returns undefined for a bundle that is gone */
async function pushBundle(
  { repository, registry }: ReleasePorts,
  commit: string,
  { bundle, release }: One,
): Promise<{ made: MadeBundle | undefined; findings: readonly Finding[] } | undefined> {
  const folder = folderOf(bundle);
  const source = await treePlace(repository.objects, commit).folder(folder);
  if (!source) return undefined;
  const { findings } = await judgeBundle({ source }, { suites: ['default'] });
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) return { made: undefined, findings: errors.map((error) => placedIn(error, bundle)) };
  const made = await madeBundle(release.bundles, bundle, source);
  await pushMade(registry, made);
  return { made, findings: [] };
}

/** The catalogs with the bundle in them; undefined when they have it, or when it says nothing of them. */
async function proposalAt(
  { repository, registryFor }: ReleasePorts,
  tip: string,
  { bundle, made }: { readonly bundle: BundleName; readonly made: MadeBundle },
): Promise<Proposal | undefined> {
  await repository.bring([tip]);
  const place = treePlace(repository.objects, tip);
  const { policy } = await policyAt(repository.objects, tip);
  if (!policy) throw new PipelineError('usage', 'the policy cannot be read: portolan check says why');
  if ((await place.text(`${folderOf(bundle)}/${RELEASE_FILE}`)) === undefined) return undefined;
  const rendering = { directory: '/', registry: () => registryFor(policy), only: 'bundles' } as const;
  const { texts, findings } = await releasedTexts(place, { ...bundle, image: made.reference, rendering });
  const [finding] = findings;
  if (finding) throw new PipelineError('usage', finding.message);
  const files = new Map([...texts].map(([path, text]): [string, Content] => [path, Buffer.from(text)]));
  const title = `Release ${bundle.package} ${bundle.version}`;
  return { title, body: releaseBody({ ...bundle, image: made.reference, paths: [...files.keys()] }), files };
}
