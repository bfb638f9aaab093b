/** What a repository needs to be gated: a policy that fits its layout, and the workflows. */

import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { type ListedFile, listFiles } from '../../git/tree.ts';
import { amount, shortList } from '../../text.ts';
import { CODE_OWNERS_FILES } from '../owners/code-owners.ts';
import type { WrittenPattern } from '../policy-file.ts';
import type { PresetName } from '../presets/preset.ts';
import { POLICY_PATH, readPolicy } from '../read-policy.ts';
import { adaptWorkflow, type Trigger } from './adapt.ts';
import { bundleCatalogNames } from './bundle-catalogs.ts';
import { type CatalogFile, likelyOf } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';
import { findLayout, type ProvenLayout, readEvidence } from './find-layout.ts';
import type { LeftOut } from './fragments.ts';
import { gatesOf } from './gates.ts';
import type { FoundLayout } from './layout.ts';
import type { Link } from './links.ts';
import { OWNERS_PATH, type OwnersFound, ownersFile, ownersFound, pipelineConfig } from './people.ts';
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
}

/** What only people know. */
export interface OpenQuestions {
  readonly admins: readonly string[];
  /** Packages without an owner. */
  readonly unowned: readonly string[];
  readonly rebuilt: RebuiltBundles;
  /** Catalogs whose names tell no order. */
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
  /** Catalogs whose order nobody has said. */
  readonly unordered: readonly string[];
  /** The `CODEOWNERS` file that the policy reads, and how many packages have owners from it alone. */
  readonly codeOwners: { readonly path: string; readonly packages: number } | undefined;
  /** How often merges replaced the image of a bundle; the policy then only warns of it. */
  readonly rebuilt: RebuiltBundles;
  /** How many packages have bundle directories (`operators/PACKAGE/VERSION/manifests`). */
  readonly bundlePackages: number;
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

/** @throws PipelineError `usage` for an action that is not pinned by commit; `not-found` for a layout that is unclear */
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
  const proven = await findLayout(await readEvidence(objects, files), { repository, commit });
  const { found, leftOut, defects, links } = proven;
  const { catalogs, templates, missing: unread } = proven.looked;
  const nameOf = catalogNamer(found.patterns);
  const unseen = likelyOf(unread.filter((path) => nameOf(path) === undefined));
  if (found.patterns.length === 0 && unseen.length > 0) throw notHere(unseen);
  if (proven.contradictions.length > 0 && !paths.includes(POLICY_PATH)) throw unclearLayout(proven);
  if (proven.questions.length > 0 && !paths.includes(POLICY_PATH)) throw undecidedLayout(proven);
  const config = await pipelineConfig(objects, tree);
  const known = [...new Set([...request.admins, ...config.maintainers])];
  const places = packagePlaces(catalogs, paths);
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
  const presets = await gatesOf(objects, files);
  const base = { registries, rebuilt, bundleCatalogs, presets };
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
    unordered: decided.order.length > 0 ? [] : open.unordered,
    decidedOwners: decided.owners.size,
    codeOwners: isNeeded ? { path: codeOwners ?? '', packages: withThem.owned - without.owned } : undefined,
    rebuilt: decided.published ? { ...rebuilt, merges: 0 } : rebuilt,
    bundlePackages: new Set(paths.flatMap((path) => BUNDLE.exec(path)?.[1] ?? [])).size,
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

/** Files that name people, or where they are looked up. */
const PEOPLE = /^config\.yaml$|(?:^|\/)(?:ci\.yaml|OWNERS|OWNERS_ALIASES|CODEOWNERS)$/;

/** @throws PipelineError `not-found` with what brings the files of one commit alone */
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

/** Files of people in the folders above paths. */
function filesOfPeople(files: readonly ListedFile[], below: readonly string[]): ListedFile[] {
  const folders = new Set(['', '.github/', 'docs/']);
  for (const path of below)
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      folders.add(path.slice(0, at + 1));
  return files.filter(
    ({ path }) => PEOPLE.test(path) && folders.has(path.slice(0, path.lastIndexOf('/') + 1)),
  );
}

async function missingOf(objects: ObjectReader, files: readonly ListedFile[]): Promise<string[]> {
  const infos = await Promise.all(files.map(({ id }) => objects.info(id)));
  return files.flatMap(({ path }, i) => (infos[i] ? [] : [path]));
}

/** Most contradictions that an error names. */
const MOST_REASONS = 3;

/** No layout fits: nothing is written, and people say where catalogs are. */
function unclearLayout({ contradictions, defects, looked }: ProvenLayout): PipelineError {
  const reasons = contradictions.slice(0, MOST_REASONS).join('; ');
  const more =
    contradictions.length > MOST_REASONS ? `; and ${contradictions.length - MOST_REASONS} more` : '';
  const first = defects.length > 0 ? `the commit has invalid catalog files (${defects[0]}), and ` : '';
  const folders = [...new Set(looked.catalogs.map(({ path }) => path.replace(/\/?[^/]*$/, '') || '.'))];
  const hint = `catalog files are in ${shortList(folders, 'folders')}; complete these lines of ${POLICY_PATH}, and run setup again:`;
  const details = policyLines(["'FOLDER/{catalog}/{package}/**'"]);
  return new PipelineError('not-found', `${first}no layout fits all catalog files: ${reasons}${more}`, {
    hint,
    details,
  });
}

/** Several catalogs are possible, and only people know which are published. */
function undecidedLayout({ questions, defects, found, looked }: ProvenLayout): PipelineError {
  const first = defects.length > 0 ? `the commit has invalid catalog files (${defects[0]}), and ` : '';
  const more = questions.length > 1 ? `; and ${questions.length - 1} more such questions` : '';
  const nameOf = catalogNamer(found.patterns);
  const files = looked.catalogs.filter(({ path }) => nameOf(path) !== undefined);
  const shown = files.slice(0, MOST_FOLDERS).map(({ path, defines }) => `  ${path}: ${defines.join(', ')}`);
  const hint = `write ${POLICY_PATH} with the patterns of the catalogs that you publish, and run setup again; catalog files were found in:`;
  const details = [
    ...shown,
    ...(files.length > shown.length ? [`  and ${files.length - shown.length} more`] : []),
    `lines of ${POLICY_PATH}, if all of them are published:`,
    ...policyLines(found.patterns.map(patternText)),
  ];
  return new PipelineError('not-found', `${first}the layout is not clear: ${questions[0]}${more}`, {
    hint,
    details,
  });
}

function policyLines(patterns: readonly string[]): string[] {
  return ['apiVersion: portolan/v1alpha1', 'kind: Portolan', `layout: {catalog: [${patterns.join(', ')}]}`];
}

function patternText(one: WrittenPattern): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  return typeof one === 'string'
    ? quoted(one)
    : `{path: ${quoted(one.path)}${one.name === undefined ? '' : `, name: ${quoted(one.name)}`}}`;
}

function notHere(paths: readonly string[]): PipelineError {
  const message = `${amount(paths.length, 'file')} that may be catalogs are not in this clone, such as ${paths[0]}`;
  return new PipelineError('not-found', message, { hint: bringing(paths) });
}

/** Most folders that one command names. */
const MOST_FOLDERS = 8;

/** The command that brings files into a partial clone, and little else: the top folders of catalogs, and files of owners. */
export function bringing(paths: readonly string[]): string {
  const patterns = new Set(
    paths.map((path) =>
      PEOPLE.test(path) ? (path.split('/').at(-1) ?? path) : path.replace(/^([^/]+)\/.*/, '$1/'),
    ),
  );
  const all = [...patterns].slice(0, MOST_FOLDERS).map((one) => (PEOPLE.test(one) ? one : `/${one}`));
  return `git sparse-checkout set --no-cone ${['/.github/', ...all].map(shellWord).join(' ')} && git checkout HEAD`;
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const BUNDLE = /^operators\/([^/]+)\/[^/]+\/manifests\/./;

const NO_OWNERS: OwnersFound = { packages: 0, owned: 0, certified: new Map(), unowned: [] };

/** Most places of `ci.yaml` files that are tried. */
const MOST_PLACES = 8;

/** Paths of `ci.yaml` files with `{package}` in folders that are called after packages; the default one is not among them. */
function reviewersPaths(paths: readonly string[], packages: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const [, before = '', name = ''] = /^(.*\/)?([^/]+)\/ci\.yaml$/.exec(path) ?? [];
    if (packages.has(name) && before !== 'operators/') found.add(`${before}{package}/ci.yaml`);
  }
  // Of catalogs named after versions, the newest has every package that is still maintained.
  return [...found].slice(-MOST_PLACES).reverse();
}

/** Those paths that name owners of packages of which no path before it does. */
async function neededReviewers(
  paths: readonly string[],
  ownedUnder: (some: readonly string[]) => Promise<number>,
): Promise<string[]> {
  const needed: string[] = [];
  let owned = paths.length === 0 ? 0 : await ownedUnder([]);
  for (const path of paths) {
    const more = await ownedUnder([...needed, path]);
    if (more > owned) needed.push(path);
    owned = Math.max(owned, more);
  }
  return needed;
}

/** A path of each package: in a catalog, or its folder among the operators. */
function packagePlaces(catalogs: readonly CatalogFile[], paths: readonly string[]): Map<string, string> {
  const places = new Map<string, string>();
  for (const path of paths) {
    const [, name] = /^operators\/([^/]+)\/./.exec(path) ?? [];
    if (name !== undefined) places.set(name, path);
  }
  for (const { path, packages } of catalogs) for (const name of packages) places.set(name, path);
  return places;
}
