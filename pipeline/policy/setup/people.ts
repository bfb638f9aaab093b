/** Who may approve, as files of the repository say it already. */
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt, type ListedFile } from '../../git/tree.ts';
import { readStrictSettings } from '../../settings.ts';
import { parseIdentity } from '../identity.ts';
import { CODE_OWNERS_FILES } from '../owners/code-owners.ts';
import { ownersReader } from '../owners/owners.ts';
import type { Policy } from '../policy.ts';
import { readPolicy } from '../read-policy.ts';
import { repositoryMatcher } from '../registries.ts';
import type { CatalogFile } from './catalog-files.ts';
import type { FirstPolicyFacts } from './policy.ts';

/** What the root's `config.yaml` of operator-pipelines says. */
interface PipelineConfig {
  /** Logins under `maintainers`. */
  readonly maintainers: readonly string[];
  /** Patterns of `allowed_bundle_registries`. */
  readonly registries: readonly string[];
}

/** Largest file that is read, in bytes. */
const FILE_BYTES = 1024 * 1024;

/** The maintainers and registries that operator-pipelines' config.yaml names. */
export async function pipelineConfig(objects: ObjectReader, tree: string): Promise<PipelineConfig> {
  const value = await settingsAt(objects, tree, 'config.yaml');
  const textsOf = (key: string): string[] => {
    const list = value?.[key];
    return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];
  };
  return {
    maintainers: textsOf('maintainers').filter((login) => parseIdentity(login) !== undefined),
    registries: textsOf('allowed_bundle_registries')
      .map((prefix) => prefix.replace(/\/+$/, ''))
      .filter(isPattern),
  };
}

/** Whether a text is a valid registry pattern of a policy, and matches the repositories below it. */
function isPattern(text: string): boolean {
  const [registry = '', ...path] = text.split('/');
  if (!/^[a-z0-9.-]+(?::[0-9]+)?$/.test(registry) || path.some((name) => !/^[a-z0-9._-]+$/.test(name)))
    return false;
  return repositoryMatcher([text])({ registry, repository: [...path, 'x'].join('/') });
}

/** The settings in a YAML file; undefined if it is not there, too large, or not a mapping. */
async function settingsAt(
  objects: ObjectReader,
  tree: string,
  path: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const entry = await entryAt(objects, tree, path);
  if (!entry || whyUnreadable(entry.mode) !== undefined) return undefined;
  // What is not in a partial clone is named by whoever asked for the files.
  if (((await objects.info(entry.id))?.size ?? FILE_BYTES + 1) > FILE_BYTES) return undefined;
  const { settings } = readStrictSettings(path, (await objects.read(entry.id, FILE_BYTES)).bytes);
  return isObject(settings?.value) ? settings.value : undefined;
}

export interface OwnersFound {
  readonly packages: number;
  /** How many of them have an owner. */
  readonly owned: number;
  /** Those of the others that have a `cert_project_id`, with it: only Red Hat's certification service knows its account. */
  readonly certified: ReadonlyMap<string, string>;
  /** Names of the packages without an owner. */
  readonly unowned: readonly string[];
}

/**
 * The owners that the files of a repository name, and packages without any.
 *
 * @param places packages, each with a path in its folder
 */
async function ownersFound(
  objects: ObjectReader,
  tree: string,
  { policy, places }: { readonly policy: Policy; readonly places: ReadonlyMap<string, string> },
): Promise<OwnersFound> {
  const reader = ownersReader(objects, tree, policy);
  const unowned: string[] = [];
  const certified = new Map<string, string>();
  for (const [name, path] of places) {
    const { identities } = await reader.ownersOf(name, [path]);
    if (identities.length > 0) continue;
    unowned.push(name);
    // The account of a certified operator is known to Red Hat's certification service alone.
    const project = (await settingsAt(objects, tree, `operators/${name}/ci.yaml`))?.['cert_project_id'];
    if (typeof project === 'string' || typeof project === 'number') certified.set(name, String(project));
  }
  return {
    packages: places.size,
    owned: places.size - unowned.length,
    certified,
    unowned: unowned.sort(compareText),
  };
}

const NO_OWNERS: OwnersFound = { packages: 0, owned: 0, certified: new Map(), unowned: [] };

interface PolicyCommit {
  readonly objects: ObjectReader;
  readonly tree: string;
  readonly paths: readonly string[];
}

export interface PolicyOwners {
  /** Files of reviewers without which a package has no owner. */
  readonly reviewers: readonly string[];
  /** The `CODEOWNERS` file, and how many packages have owners from it alone. */
  readonly codeOwners: { readonly path: string; readonly packages: number } | undefined;
  readonly owners: OwnersFound;
}

/**
 * The owners that a policy finds. It names only sources that give a package an owner.
 *
 * @param policyWith the text of the policy with these sources
 * @param places packages, each with a path in its folder
 * @param isPartial whether files with owners are missing in the clone
 */
export async function ownersWith(
  policyWith: (sources: Pick<FirstPolicyFacts, 'reviewers' | 'codeOwners'>) => string,
  { objects, tree, paths }: PolicyCommit,
  { places, isPartial }: { readonly places: ReadonlyMap<string, string>; readonly isPartial: boolean },
): Promise<PolicyOwners> {
  const ownersUnder = async (sources: Parameters<typeof policyWith>[0]): Promise<OwnersFound> => {
    const { policy } = readPolicy(Buffer.from(policyWith(sources)));
    // Owners of whom only some can be read would be counted wrongly: the missing files are named.
    return policy && !isPartial ? await ownersFound(objects, tree, { policy, places }) : NO_OWNERS;
  };
  const reviewers = await neededReviewers(
    reviewersPaths(paths, new Set(places.keys())),
    async (some) => (await ownersUnder({ reviewers: some })).owned,
  );
  const owners = await ownersUnder({ reviewers });
  const path = CODE_OWNERS_FILES.find((one) => paths.includes(one));
  if (path === undefined) return { reviewers, owners, codeOwners: undefined };
  const more = await ownersUnder({ reviewers, codeOwners: path });
  const packages = more.owned - owners.owned;
  return packages > 0
    ? { reviewers, owners: more, codeOwners: { path, packages } }
    : { reviewers, owners, codeOwners: undefined };
}

/** The file that `owners.sources` names for packages whose certification project is all that is known. */
export const OWNERS_PATH = '.github/portolan-owners.yaml';

/** A file of owners, with a line to fill in for each package. */
export function ownersFile(certified: OwnersFound['certified']): string {
  return [
    '# Owners of packages whose operators/PACKAGE/ci.yaml has a cert_project_id and no reviewers. The owner is the account',
    "# that opened the project, which only Red Hat's certification service knows. Remove the # of a line to name people.",
    ...[...certified]
      .sort(([a], [b]) => compareText(a, b))
      .map(
        ([name, project]) =>
          `# ${name}: [LOGIN] # cert_project_id ${project.replaceAll(/[^A-Za-z0-9-]/g, '?')}`,
      ),
    '',
  ].join('\n');
}

// Where owners of packages are looked up: files that name people, and the `ci.yaml` files of packages.

/** Files that name people, or where they are looked up. */
const PEOPLE = /^config\.yaml$|(?:^|\/)(?:ci\.yaml|OWNERS|OWNERS_ALIASES|CODEOWNERS)$/;

export function isFileOfPeople(path: string): boolean {
  return PEOPLE.test(path);
}

/** Files of people in the folders above paths. */
export function filesOfPeople(files: readonly ListedFile[], below: readonly string[]): ListedFile[] {
  const folders = new Set(['', '.github/', 'docs/']);
  // Every beginning of the path that ends with a slash.
  for (const path of below)
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      folders.add(path.slice(0, at + 1));
  return files.filter(
    ({ path }) => PEOPLE.test(path) && folders.has(path.slice(0, path.lastIndexOf('/') + 1)),
  );
}

/** Paths of files that are not in the clone. */
export async function missingOf(objects: ObjectReader, files: readonly ListedFile[]): Promise<string[]> {
  const infos = await Promise.all(files.map(({ id }) => objects.info(id)));
  return files.flatMap(({ path }, i) => (infos[i] ? [] : [path]));
}

/** Most places of `ci.yaml` files that are tried. */
const MOST_PLACES = 8;

/** Paths of `ci.yaml` files with `{package}` in folders that are called after packages; the default one is not among them. */
function reviewersPaths(paths: readonly string[], packages: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const [, before = '', name = ''] = /^(.*\/)?([^/]+)\/ci\.yaml$/.exec(path) ?? [];
    if (packages.has(name) && before !== 'operators/') found.add(`${before}{package}/ci.yaml`);
  }
  // Of catalogs named after versions, the newest has every package that is still maintained: it comes first, 4.10 before 4.9.
  return [...found].sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).slice(0, MOST_PLACES);
}

/** The paths of owners' files that are needed: each names owners of a package for which no path before it does. */
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
export function packagePlaces(
  catalogs: readonly CatalogFile[],
  paths: readonly string[],
): Map<string, string> {
  const places = new Map<string, string>();
  for (const path of paths) {
    const [, name] = /^operators\/([^/]+)\/./.exec(path) ?? [];
    if (name !== undefined) places.set(name, path);
  }
  for (const { path, packages } of catalogs) for (const name of packages) places.set(name, path);
  return places;
}
