/** What a repository needs to be gated: a policy that fits its layout, and the workflows. */
import type { Finding } from '../../../catalog/finding.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { type ListedFile, listFiles } from '../../git/tree.ts';
import { CODE_OWNERS_FILES } from '../owners/code-owners.ts';
import type { PresetName } from '../presets/preset.ts';
import { POLICY_PATH, readPolicy } from '../read-policy.ts';
import { adaptWorkflow, type Trigger } from './adapt.ts';
import { bundleCatalogNames, bundleFolders, NO_FOLDERS, packageManifests } from './bundle-folders.ts';
import { likelyOf } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';
import { findLayout, readEvidence } from './find-layout.ts';
import type { LeftOut } from './fragments.ts';
import { gatesOf } from './gates.ts';
import type { FoundLayout } from './layout.ts';
import { notHere, unclearLayout, undecidedLayout } from './layout-errors.ts';
import type { Link } from './links.ts';
import {
  filesOfPeople,
  missingOf,
  neededReviewers,
  OWNERS_PATH,
  type OwnersFound,
  ownersFile,
  ownersFound,
  packagePlaces,
  pipelineConfig,
  reviewersPaths,
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
  readonly codeOwners: { readonly path: string; readonly packages: number } | undefined;
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

const ACTION = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_./-]+@[0-9a-f]{40}$/;

/**
 * Finds the layout, owners and gates of a repository, and makes its first policy and workflows.
 *
 * @throws PipelineError `usage` for an action that is not pinned by commit; `not-found` for a layout that is unclear
 */
export async function setup(repository: Repository, request: SetupRequest): Promise<Setup> {
  const { action } = request;
  if (action !== undefined && !ACTION.test(action))
    throw new PipelineError(
      'usage',
      `invalid action ${JSON.stringify(action)}: expected OWNER/REPOSITORY@COMMIT`,
    );
  const [commit = ''] = await repository.resolve([request.commit]);
  const { objects } = repository;
  const tree = await objects.treeOf(commit);
  const files = await filesOf(objects, tree);
  const paths = files.map(({ path }) => path);
  const proven = await findLayout(await readEvidence(objects, files, { validates: true }), {
    repository,
    commit,
  });
  const { found, leftOut, defects, links } = proven;
  const { catalogs, templates, missing: unread } = proven.looked;
  const nameOf = catalogNamer(found.patterns);
  const unseen = likelyOf(unread.filter((path) => nameOf(path) === undefined));
  if (found.patterns.length === 0 && unseen.length > 0) throw notHere(unseen);
  if (proven.contradictions.length > 0 && !paths.includes(POLICY_PATH)) throw unclearLayout(proven);
  if (proven.questions.length > 0 && !paths.includes(POLICY_PATH)) throw undecidedLayout(proven);
  const config = await pipelineConfig(objects, tree);
  const known = [...new Set([...request.admins, ...config.maintainers])];
  const folders = found.patterns.length === 0 ? await bundleFolders(objects, files) : NO_FOLDERS;
  const { patterns: bundlePatterns, places: bundlePlaces, others: otherBundles } = folders;
  const places = new Map([...bundlePlaces, ...packagePlaces(catalogs, paths)]);
  const missing = [...unseen, ...(await missingOf(objects, filesOfPeople(files, [...places.values()])))];
  const ownersUnder = async (text: string): Promise<OwnersFound> => {
    const { policy } = readPolicy(Buffer.from(text));
    // Owners of whom only some can be read would be counted wrongly: the missing files are named.
    return policy && missing.length === unseen.length
      ? await ownersFound(objects, tree, { policy, places })
      : NO_OWNERS;
  };
  const { registries } = config;
  const rebuilt = await rebuiltBundles(repository, commit, { paths, patterns: found.patterns });
  const bundleCatalogs = found.patterns.length === 0 ? await bundleCatalogNames(objects, files) : [];
  const presetsFound = await gatesOf(objects, files);
  const gates = { registries, rebuilt, bundlePatterns, bundleCatalogs, presets: presetsFound };
  const failedPresets =
    (await request.tryPresets?.(firstPolicy(found, known, gates), gates.presets)) ?? new Map();
  const presets = gates.presets.filter((name) => !failedPresets.has(name));
  const base = { ...gates, presets, failedPresets: [...failedPresets.keys()] };
  const reviewers = await neededReviewers(reviewersPaths(paths, new Set(places.keys())), async (some) => {
    return (await ownersUnder(firstPolicy(found, known, { ...base, reviewers: some }))).owned;
  });
  const facts = { ...base, reviewers };
  const plain = firstPolicy(found, known, facts);
  const codeOwners = CODE_OWNERS_FILES.find((path) => paths.includes(path));
  const fuller = codeOwners === undefined ? plain : firstPolicy(found, known, { ...facts, codeOwners });
  const [without, withThem] = [await ownersUnder(plain), await ownersUnder(fuller)];
  const isNeeded = withThem.owned > without.owned;
  const owners = isNeeded ? withThem : without;
  const open = { admins: known, unowned: owners.unowned, rebuilt, unordered: unorderedOf(found.catalogs) };
  const isNew = !paths.includes(POLICY_PATH);
  const decided = isNew ? ((await request.decide?.(open)) ?? UNDECIDED) : UNDECIDED;
  const admins = known.length > 0 ? known : decided.admins;
  const text = firstPolicy(found, admins, {
    ...facts,
    rebuilt: decided.published ? undefined : rebuilt,
    codeOwners: isNeeded ? codeOwners : undefined,
    ownersFile: owners.certified.size > 0 ? OWNERS_PATH : undefined,
    packageOwners: decided.owners,
    order: decided.order,
  });
  const wanted = new Map([[POLICY_PATH, text]]);
  if (isNew && owners.certified.size > 0) wanted.set(OWNERS_PATH, ownersFile(owners.certified));
  const wishes = {
    action,
    branch: request.branch ?? 'main',
    patterns: found.patterns,
    hasOperators: paths.some((path) => path.startsWith('operators/')),
    trigger: request.trigger ?? ('pull_request_target' as const),
  };
  const hasCatalogs = found.patterns.length + bundleCatalogs.length > 0;
  for (const [name, text] of Object.entries(WORKFLOWS))
    if (hasCatalogs || GATE.has(name))
      wanted.set(`.github/workflows/${name}`, adaptWorkflow(name, text, wishes));
  const there = new Set(files.map(({ path }) => path));
  return {
    found,
    admins,
    owners,
    presets,
    failedPresets,
    unordered: decided.order.length > 0 ? [] : open.unordered,
    decidedOwners: decided.owners.size,
    codeOwners: isNeeded ? { path: codeOwners ?? '', packages: withThem.owned - without.owned } : undefined,
    rebuilt: decided.published ? { ...rebuilt, merges: 0 } : rebuilt,
    bundlePackages: new Set(paths.flatMap((path) => BUNDLE.exec(path)?.[1] ?? [])).size,
    bundlePatterns,
    otherBundles,
    packageManifests: found.patterns.length === 0 ? packageManifests(files) : [],
    bundleCatalogs,
    missing,
    templates: found.patterns.length > 0 ? [] : templates,
    leftOut,
    links,
    defects,
    files: new Map([...wanted].filter(([path]) => !there.has(path))),
    kept: [...wanted.keys()].filter((path) => there.has(path)),
  };
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

const BUNDLE = /^operators\/([^/]+)\/[^/]+\/manifests\/./;

const NO_OWNERS: OwnersFound = { packages: 0, owned: 0, certified: new Map(), unowned: [] };
