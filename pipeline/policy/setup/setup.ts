/** What a repository needs to be gated: a policy that fits its layout, and the workflows. */
import type { Finding } from '../../../catalog/finding.ts';
import { objectOf } from '../../../catalog/go/shape.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { whyUnreadable } from '../../git/source.ts';
import { type ListedFile, listFiles } from '../../git/tree.ts';
import { readSettings } from '../../settings.ts';
import type { PresetName } from '../presets/preset.ts';
import { POLICY_PATH } from '../read-policy.ts';
import { adaptWorkflow, type Trigger } from './adapt.ts';
import { bundleCatalogNames, bundleFolders, NO_FOLDERS, packageManifests } from './bundle-folders.ts';
import { likelyOf } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';
import { findLayout, type ProvenLayout, readEvidence } from './find-layout.ts';
import type { LeftOut } from './fragments.ts';
import type { FoundLayout } from './layout.ts';
import { notHere, unclearLayout, undecidedLayout } from './layout-errors.ts';
import type { Link } from './links.ts';
import {
  filesOfPeople,
  missingOf,
  OWNERS_PATH,
  type OwnersFound,
  ownersFile,
  ownersWith,
  type PolicyOwners,
  packagePlaces,
  pipelineConfig,
} from './people.ts';
import { firstPolicy, unorderedOf } from './policy.ts';
import { type RebuiltBundles, rebuiltBundles } from './rebuilt-bundles.ts';
import { WORKFLOWS } from './workflows.ts';

export interface SetupRequest {
  /** The revision that is looked at. */
  readonly commit: string;
  readonly admins: readonly string[];
  /** `OWNER/REPOSITORY@COMMIT` in place of the action that the workflows name. */
  readonly action?: string | undefined;
  /** The branch whose pushes are published; `main` when left out. */
  readonly branch?: string | undefined;
  readonly trigger?: Trigger | undefined;
  /** Answers what the files of the repository leave open; nothing is decided when left out. */
  readonly decide?: ((open: OpenQuestions) => Promise<Decisions>) | undefined;
  /** Nothing is tried when left out. */
  readonly tryPresets?: PresetTrial | undefined;
}

/** Says which presets the latest merges fail under a policy, with the first error of each. */
export type PresetTrial = (
  policy: string,
  presets: readonly PresetName[],
) => Promise<ReadonlyMap<PresetName, Finding>>;

/** What only people know. */
export interface OpenQuestions {
  readonly admins: readonly string[];
  /** Packages without an owner. */
  readonly unowned: readonly string[];
  readonly rebuilt: RebuiltBundles;
  /** Catalogs whose names give no order. */
  readonly unordered: readonly string[];
}

/** What is empty was not decided. */
export interface Decisions {
  readonly admins: readonly string[];
  /** Owners by package. */
  readonly owners: ReadonlyMap<string, readonly string[]>;
  /** Whether clusters can install what is merged at once, although merged bundles were replaced. */
  readonly published: boolean;
  /** Catalogs in the order in which clusters move through them. */
  readonly order: readonly string[];
}

const UNDECIDED: Decisions = { admins: [], owners: new Map(), published: false, order: [] };

export interface Setup {
  readonly found: FoundLayout;
  /** The admins of the policy: those that were asked for, and the repository's maintainers. */
  readonly admins: readonly string[];
  readonly owners: OwnersFound;
  /** How many of those without an owner got one by a decision. */
  readonly decidedOwners: number;
  /** Presets of the gates that guard the repository already. */
  readonly presets: readonly PresetName[];
  /** Those that the latest merges fail, which the policy names in a comment. */
  readonly failedPresets: ReadonlyMap<PresetName, Finding>;
  /** Catalogs whose order nobody has said. */
  readonly unordered: readonly string[];
  /** The `CODEOWNERS` file that the policy reads, and how many packages have owners from it alone. */
  readonly codeOwners: PolicyOwners['codeOwners'];
  /** How often merges replaced the image of a bundle; the policy then only warns of it. */
  readonly rebuilt: RebuiltBundles;
  /** How many packages have bundle directories (`operators/PACKAGE/VERSION/manifests`). */
  readonly bundlePackages: number;
  /** Patterns of bundle directories elsewhere; empty where the repository has catalogs. */
  readonly bundlePatterns: readonly string[];
  /** Bundle directories that no pattern can name. */
  readonly otherBundles: readonly string[];
  /** Folders of package manifests, the format before bundles; empty where the repository has catalogs. */
  readonly packageManifests: readonly string[];
  /** Catalogs that the policy takes to be generated from them; empty where the repository has catalogs. */
  readonly bundleCatalogs: readonly string[];
  /** Files that may be catalogs of other patterns, or have owners, and are not in a shallow or partial clone. */
  readonly missing: readonly string[];
  /** Templates of which no catalog was found. */
  readonly templates: readonly string[];
  /** Files with blobs that are in no catalog, with the reason. */
  readonly leftOut: readonly LeftOut[];
  /** Symbolic links to files of catalogs. */
  readonly links: readonly Link[];
  /** What is wrong with files of catalogs at the commit, whatever the layout. */
  readonly defects: readonly string[];
  /** Files to write, by path; those that the repository has are not among them. */
  readonly files: ReadonlyMap<string, string>;
  /** Paths that the repository has already. */
  readonly kept: readonly string[];
}

/** Workflows that need no catalog. */
const GATE: ReadonlySet<string> = new Set(['portolan.yml', 'portolan-review.yml']);

/** `OWNER/REPOSITORY@COMMIT`, perhaps with a path: a tag could be moved. */
const ACTION = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_./-]+@[0-9a-f]{40}$/;

/**
 * Finds the layout, owners and gates of a repository, and makes its first policy and workflows.
 *
 * @throws PipelineError `usage` for an action that is not pinned by commit; `not-found` for a layout that is unclear
 */
export async function setUpRepository(repository: Repository, request: SetupRequest): Promise<Setup> {
  refuseAction(request.action);
  const snapshot = await snapshotOf(repository, request.commit);
  const { objects, commit, tree, files, paths, isNew } = snapshot;
  const { proven, unseen } = await clearLayout(repository, snapshot);
  const { found, leftOut, defects, links, looked } = proven;
  const hasCatalogs = found.patterns.length > 0;
  const config = await pipelineConfig(objects, tree);
  const known = [...new Set([...request.admins, ...config.maintainers])];
  const folders = hasCatalogs ? NO_FOLDERS : await bundleFolders(objects, files);
  const bundleCatalogs = hasCatalogs ? [] : await bundleCatalogNames(objects, files);
  const rebuilt = await rebuiltBundles(repository, commit, { paths, patterns: found.patterns });
  const gates = await gatesOf(objects, files);
  const { registries } = config;
  // The presets are tried under the policy as it would be; those that the latest merges fail become a comment in it.
  const untried = { registries, rebuilt, bundlePatterns: folders.patterns, bundleCatalogs, presets: gates };
  const failedPresets = (await request.tryPresets?.(firstPolicy(found, known, untried), gates)) ?? new Map();
  const presets = gates.filter((name) => !failedPresets.has(name));
  const facts = { ...untried, presets, failedPresets: [...failedPresets.keys()] };
  const places = new Map([...folders.places, ...packagePlaces(looked.catalogs, paths)]);
  const unread = await missingOf(objects, filesOfPeople(files, [...places.values()]));
  const { reviewers, codeOwners, owners } = await ownersWith(
    (sources) => firstPolicy(found, known, { ...facts, ...sources }),
    snapshot,
    { places, isPartial: unread.length > 0 },
  );
  const open = { admins: known, unowned: owners.unowned, rebuilt, unordered: unorderedOf(found.catalogs) };
  // A repository that has a policy has decided.
  const decided = isNew ? ((await request.decide?.(open)) ?? UNDECIDED) : UNDECIDED;
  const admins = known.length > 0 ? known : decided.admins;
  const policy = firstPolicy(found, admins, {
    ...facts,
    reviewers,
    rebuilt: decided.published ? undefined : rebuilt,
    codeOwners: codeOwners?.path,
    ownersFile: owners.certified.size > 0 ? OWNERS_PATH : undefined,
    packageOwners: decided.owners,
    order: decided.order,
  });
  const wanted = [
    [POLICY_PATH, policy] as const,
    ...(isNew && owners.certified.size > 0 ? [[OWNERS_PATH, ownersFile(owners.certified)] as const] : []),
    ...workflows(request, { found, paths, publishes: hasCatalogs || bundleCatalogs.length > 0 }),
  ];
  const there = new Set(paths);
  return {
    found,
    admins,
    owners,
    presets,
    failedPresets,
    unordered: decided.order.length > 0 ? [] : open.unordered,
    decidedOwners: decided.owners.size,
    codeOwners,
    rebuilt: decided.published ? { ...rebuilt, merges: 0 } : rebuilt,
    bundlePackages: new Set(paths.flatMap((path) => BUNDLE.exec(path)?.[1] ?? [])).size,
    bundlePatterns: folders.patterns,
    otherBundles: folders.others,
    packageManifests: hasCatalogs ? [] : packageManifests(files),
    bundleCatalogs,
    missing: [...unseen, ...unread],
    templates: hasCatalogs ? [] : looked.templates,
    leftOut,
    links,
    defects,
    files: new Map(wanted.filter(([path]) => !there.has(path))),
    kept: wanted.map(([path]) => path).filter((path) => there.has(path)),
  };
}

/** Refuses an action that is not pinned by commit: it is written into workflows. @throws PipelineError `usage` */
function refuseAction(action: string | undefined): void {
  if (action === undefined || ACTION.test(action)) return;
  throw new PipelineError(
    'usage',
    `invalid action ${JSON.stringify(action)}: expected OWNER/REPOSITORY@COMMIT`,
  );
}

/** A commit of the repository. */
interface Snapshot {
  readonly objects: ObjectReader;
  readonly commit: string;
  readonly tree: string;
  readonly files: readonly ListedFile[];
  readonly paths: readonly string[];
  /** Whether it has no policy yet. */
  readonly isNew: boolean;
}

/** A commit with the list of its files. */
async function snapshotOf(repository: Repository, revision: string): Promise<Snapshot> {
  const [commit = ''] = await repository.resolve([revision]);
  const { objects } = repository;
  const tree = await objects.treeOf(commit);
  const files = await filesOf(objects, tree);
  const paths = files.map(({ path }) => path);
  return { objects, commit, tree, files, paths, isNew: !paths.includes(POLICY_PATH) };
}

/**
 * The layout of a repository. One that is unclear is an error, unless there is a policy that names it.
 *
 * @returns it, and paths of what may be catalogs of other patterns and is not in the clone
 */
async function clearLayout(
  repository: Repository,
  { objects, commit, files, isNew }: Snapshot,
): Promise<{ readonly proven: ProvenLayout; readonly unseen: readonly string[] }> {
  const evidence = await readEvidence(objects, files, { validates: true });
  const proven = await findLayout(evidence, { repository, commit });
  const { found, looked, contradictions, questions } = proven;
  const nameOf = catalogNamer(found.patterns);
  const unseen = likelyOf(looked.missing.filter((path) => nameOf(path) === undefined));
  // With a policy, too: nothing of the catalogs is here to be looked at.
  if (found.patterns.length === 0 && unseen.length > 0) throw notHere(unseen);
  if (contradictions.length > 0 && isNew) throw unclearLayout(proven);
  if (questions.length > 0 && isNew) throw undecidedLayout(proven);
  return { proven, unseen };
}

/** The workflows by path: those of the gate, and the others where there are catalogs to publish. */
function workflows(
  { action, branch = 'main', trigger = 'pull_request_target' }: SetupRequest,
  {
    found,
    paths,
    publishes,
  }: Pick<ProvenLayout, 'found'> & Pick<Snapshot, 'paths'> & { readonly publishes: boolean },
): (readonly [path: string, text: string])[] {
  const hasOperators = paths.some((path) => path.startsWith('operators/'));
  const choices = { action, branch, patterns: found.patterns, hasOperators, trigger };
  return Object.entries(WORKFLOWS)
    .filter(([name]) => publishes || GATE.has(name))
    .map(([name, text]) => [`.github/workflows/${name}`, adaptWorkflow(name, text, choices)]);
}

/** All files of a tree. @throws PipelineError `not-found` with what brings the files of one commit alone */
async function filesOf(objects: ObjectReader, tree: string): Promise<readonly ListedFile[]> {
  try {
    return await listFiles(objects, tree);
  } catch (error) {
    if (!(error instanceof PipelineError) || error.code !== 'not-found') throw error;
    const hint =
      'git checkout HEAD fetches the files of one commit; git fetch --refetch --filter=blob:none its folders alone';
    throw new PipelineError('not-found', 'some folders of the commit are not in this clone', { hint });
  }
}

/** A file of a bundle directory in the default layout. */
const BUNDLE = /^operators\/([^/]+)\/[^/]+\/manifests\/./;

// Gates of others that guard a repository already, recognized by its files: their presets are proposed.

/** `organization` in the `config.yaml` of operator-pipelines. */
const ORGANIZATIONS: ReadonlyMap<string, PresetName> = new Map([
  ['community-operators', 'community'],
  ['certified-operators', 'certified'],
  ['redhat-marketplace', 'certified'],
]);

/** Pipelines and tasks of Konflux for fragments of catalogs. */
const KONFLUX =
  /\b(?:fbc-builder|validate-fbc|fbc-validation|fbc-target-index-pruning-check|fbc-fips-check)\b/;
/** Pipeline runs of Konflux, and how many of them are read: those of one repository are alike. */
const PIPELINE_RUN = /^\.tekton\/[^/]+\.ya?ml$/;
const MOST_RUNS = 50;

/** Largest file that is read, in bytes. */
const FILE_BYTES = 256 * 1024;

/** The presets of the gates that a repository has files of. */
async function gatesOf(objects: ObjectReader, files: readonly ListedFile[]): Promise<PresetName[]> {
  const textOf = async (file: ListedFile | undefined): Promise<string> => {
    if (!file || whyUnreadable(file.mode) !== undefined) return '';
    const size = (await objects.info(file.id))?.size ?? FILE_BYTES + 1;
    return size > FILE_BYTES ? '' : (await objects.read(file.id, FILE_BYTES)).bytes.toString('utf8');
  };
  const settingsOf = async (path: string): Promise<unknown> => {
    const text = await textOf(files.find((file) => file.path === path));
    return readSettings(path, Buffer.from(text)).settings?.value;
  };
  const found = new Set<PresetName>();
  const { organization } = objectOf(await settingsOf('config.yaml'));
  const guarded = typeof organization === 'string' ? ORGANIZATIONS.get(organization) : undefined;
  if (guarded) found.add(guarded);
  // The configuration of the pipeline of k8s-operatorhub/community-operators.
  const { production } = objectOf(await settingsOf('ci/pipeline-config.yaml'));
  if (objectOf(production)['type'] === 'k8s') found.add('operatorhub');
  for (const run of files.filter(({ path }) => PIPELINE_RUN.test(path)).slice(0, MOST_RUNS))
    if (KONFLUX.test(await textOf(run))) found.add('konflux');
  return [...found];
}
