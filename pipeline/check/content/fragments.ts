/** The Dockerfiles of catalogs that a pull request changes, or whose catalogs it changes, as Konflux checks their images. */
import {
  catalogFolder,
  type DescribedFragment,
  type Fragment,
  fragmentIn,
  isWithin,
} from '../../../catalog/fbc/fragment.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runFragmentChecks } from '../../../catalog/rules/rule.ts';
import { catalogUnits } from '../../change/unit.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { type ListedFile, listFiles } from '../../git/tree.ts';
import { isDockerfile } from '../../policy/setup/build-files.ts';
import { foldersAbove } from '../../policy/setup/fragments.ts';
import { isUnshipped } from '../../policy/setup/unshipped.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { CheckScene } from '../world/scene.ts';
import { newsOf } from './bundles.ts';
import type { CatalogResult } from './catalog-rules.ts';

/**
 * Checks every Dockerfile of a catalog that changes and, for the gates of presets, those whose files change; what it had
 * before the change is known.
 */
export async function checkFragments(scene: CheckScene): Promise<CatalogResult[]> {
  const { trees, policy } = scene;
  const severityOf = severitiesOf(policy);
  const changed = scene.change.paths.map(({ path }) => path);
  const isGate = RULES.some((rule) => rule.fragment && rule.isOptional && severityOf(rule) !== 'off');
  if (!isGate && !changed.some(isDockerfile)) return [];
  const [before, after] = [await sideOf(scene, trees.base), await sideOf(scene, trees.merged)];
  const isRead = (path: string): boolean => isGate || changed.includes(path);
  const wanted: DescribedFragment[] = [];
  for await (const one of fragmentsIn(scene, after, isRead)) if (isAbout(one, changed)) wanted.push(one);
  const paths = new Set(wanted.map(({ path }) => path));
  const earlier = new Map<string, DescribedFragment>();
  for await (const one of fragmentsIn(scene, before, (path) => paths.has(path))) earlier.set(one.path, one);
  const findingsOf = async (
    one: DescribedFragment,
    side: Side,
    change?: Fragment['change'],
  ): Promise<Finding[]> => {
    const hasPackage = isGate ? await definesPackage(one, side.files, scene.objects) : undefined;
    return runFragmentChecks({ ...one, hasPackage, ...(change ? { change } : {}) }, RULES, severityOf);
  };
  const [now, known]: [Finding[], Finding[]] = [[], []];
  for (const one of wanted) {
    const old = earlier.get(one.path);
    const had = [...((old && before.catalogsOf(old)) ?? [])].filter((name) => after.catalogs.has(name));
    const change = old && {
      base: old.base,
      lost: await servedByNone(scene, after, { names: had, own: one }),
    };
    now.push(...(await findingsOf(one, after, change)));
    if (old) known.push(...(await findingsOf(old, before)));
  }
  return [newsOf(now, known)];
}

/** Those of some catalogs that no image of a tree has; none if a build decides what an image has. */
async function servedByNone(
  scene: CheckScene,
  side: Side,
  { names, own }: { readonly names: readonly string[]; readonly own: DescribedFragment },
): Promise<string[]> {
  let left = withoutServed(names, side.catalogsOf(own));
  if (left.length === 0) return left;
  for await (const one of fragmentsIn(scene, side)) left = withoutServed(left, side.catalogsOf(one));
  return left;
}

function withoutServed(names: readonly string[], served: ReadonlySet<string> | undefined): string[] {
  return served ? names.filter((name) => !served.has(name)) : [];
}

/** Most Dockerfiles that are read, and most bytes of one. */
const MOST_DOCKERFILES = 300;
const MOST_BYTES = 256 * 1024;

/** What a tree has of files and catalogs. */
interface Side {
  readonly files: ReadonlyMap<string, ListedFile>;
  /** Of the files, sorted. */
  readonly paths: readonly string[];
  /** Names of all catalogs. */
  readonly catalogs: ReadonlySet<string>;
  /** The catalogs that an image has; undefined if only a build knows. */
  readonly catalogsOf: (fragment: DescribedFragment) => ReadonlySet<string> | undefined;
}

async function sideOf({ objects, policy }: CheckScene, tree: string): Promise<Side> {
  const files = new Map((await listFiles(objects, tree)).map((file) => [file.path, file]));
  const units = await catalogUnits(objects, tree, policy.layout);
  return {
    files,
    paths: [...files.keys()].sort(),
    catalogs: new Set([...units.values()].map(({ catalog }) => catalog)),
    catalogsOf: ({ files: copied }) =>
      copied &&
      new Set(
        copied.flatMap(({ source }) =>
          [source, ...foldersAbove(source)].flatMap((path) => units.get(path)?.catalog ?? []),
        ),
      ),
  };
}

/** The catalog fragments that Dockerfiles of a tree ship, one at a time: each may name all files. */
async function* fragmentsIn(
  { objects }: CheckScene,
  { files, paths }: Side,
  isRead: (path: string) => boolean = () => true,
): AsyncGenerator<DescribedFragment> {
  const dockerfiles = [...files.values()]
    .filter(({ path, mode }) => isDockerfile(path) && whyUnreadable(mode) === undefined && !isUnshipped(path))
    .sort((a, b) => compareText(a.path, b.path))
    .slice(0, MOST_DOCKERFILES);
  for (const { path, id } of dockerfiles) {
    const info = isRead(path) ? await objects.info(id) : undefined;
    if (info === undefined || info.size > MOST_BYTES) continue;
    const text = (await objects.read(id, MOST_BYTES)).bytes.toString('utf8');
    const fragment = fragmentIn(path, text, paths);
    if (fragment) yield fragment;
  }
}

/** Whether it changes, or any of its files. */
function isAbout({ path, files }: DescribedFragment, changed: readonly string[]): boolean {
  const own = new Set([path, ...(files ?? []).map(({ source }) => source)]);
  return changed.some((one) => own.has(one));
}

const PACKAGE = /["']?schema["']?\s*:\s*["']?olm\.package["']?\s*(?:[,}#\r\n]|$)/;
/** Most bytes of a file that is searched for a package. */
const MOST_CATALOG = 64 * 1024 * 1024;

/** Whether the files that a fragment ships define a package; undefined if that cannot be known. */
async function definesPackage(
  fragment: DescribedFragment,
  files: ReadonlyMap<string, ListedFile>,
  objects: ObjectReader,
): Promise<boolean | undefined> {
  const folder = catalogFolder(fragment);
  if (!fragment.files || folder === undefined) return undefined;
  for (const { source } of fragment.files.filter(({ path }) => isWithin(path, folder))) {
    const file = files.get(source);
    if (!file || whyUnreadable(file.mode) !== undefined) return undefined;
    if (PACKAGE.test((await objects.read(file.id, MOST_CATALOG)).bytes.toString('utf8'))) return true;
  }
  return false;
}
