/** The Dockerfiles of catalogs that a pull request changes, or whose catalogs it changes, as Konflux checks their images. */
import {
  catalogFolder,
  type DescribedFragment,
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
  const [before, after] = [await fragmentsIn(scene, trees.base), await fragmentsIn(scene, trees.merged)];
  const wanted = after.fragments.filter((one) =>
    isGate ? isAbout(one, changed) : changed.includes(one.path),
  );
  const served = new Set(after.fragments.flatMap((one) => after.catalogsOf(one) ?? [...after.catalogs]));
  const [now, earlier]: [Finding[], Finding[]] = [[], []];
  for (const one of wanted) {
    const old = before.fragments.find(({ path }) => path === one.path);
    const had = (old && before.catalogsOf(old)) ?? [];
    const lost = had.filter((name) => after.catalogs.has(name) && !served.has(name));
    const change = old && { change: { base: old.base, lost } };
    const hasPackage = async (fragment: DescribedFragment, side: Side): Promise<boolean | undefined> =>
      isGate ? definesPackage(fragment, side.files, scene.objects) : undefined;
    const is = { ...one, ...change, hasPackage: await hasPackage(one, after) };
    now.push(...runFragmentChecks(is, RULES, severityOf));
    if (old)
      earlier.push(
        ...runFragmentChecks({ ...old, hasPackage: await hasPackage(old, before) }, RULES, severityOf),
      );
  }
  return [newsOf(now, earlier)];
}

/** Most Dockerfiles that are read, and most bytes of one. */
const MOST_DOCKERFILES = 300;
const MOST_BYTES = 256 * 1024;

/** What a tree has of Dockerfiles and catalogs. */
interface Side {
  readonly files: ReadonlyMap<string, ListedFile>;
  readonly fragments: readonly DescribedFragment[];
  /** Names of all catalogs. */
  readonly catalogs: ReadonlySet<string>;
  /** The catalogs that an image has; undefined if only a build knows. */
  readonly catalogsOf: (fragment: DescribedFragment) => readonly string[] | undefined;
}

/** The catalog fragments that Dockerfiles of a tree ship. */
async function fragmentsIn({ objects, policy }: CheckScene, tree: string): Promise<Side> {
  const listed = await listFiles(objects, tree);
  const files = new Map(listed.map((file) => [file.path, file]));
  const dockerfiles = listed
    .filter(({ path, mode }) => isDockerfile(path) && whyUnreadable(mode) === undefined && !isUnshipped(path))
    .sort((a, b) => compareText(a.path, b.path))
    .slice(0, MOST_DOCKERFILES);
  const paths = [...files.keys()].sort();
  const fragments: DescribedFragment[] = [];
  for (const { path, id } of dockerfiles) {
    const info = await objects.info(id);
    if (info === undefined || info.size > MOST_BYTES) continue;
    const text = (await objects.read(id, MOST_BYTES)).bytes.toString('utf8');
    const fragment = fragmentIn(path, text, paths);
    if (fragment) fragments.push(fragment);
  }
  const units = await catalogUnits(objects, tree, policy.layout);
  return {
    files,
    fragments,
    catalogs: new Set([...units.values()].map(({ catalog }) => catalog)),
    catalogsOf: (fragment) => {
      const folders =
        fragment.files && new Set(fragment.files.flatMap(({ source }) => [source, ...foldersAbove(source)]));
      return (
        folders && [
          ...new Set(
            [...units.values()].flatMap(({ path, catalog }) => (folders.has(path) ? [catalog] : [])),
          ),
        ]
      );
    },
  };
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
