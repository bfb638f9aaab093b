/** Changes outside of any package: of the gate, of whole catalogs, of what is nobody's in particular. */
import type { AreaChange, Sides } from './change.ts';
import type { ChangedPath, ClassificationInput } from './classification-input.ts';
import { contentText } from './package-draft.ts';
import type { CatalogUnit } from './unit.ts';

/** Areas of single files; a new or deleted catalog is an area of its own. */
type FileArea = 'gate' | 'advisory' | 'repository' | 'root' | 'unknown';

/**
 * The areas of a change. A path that is not a package's ends here, so that no change goes
 * without somebody who is asked.
 *
 * @param outsidePackages files and folders that change in what belongs to no package
 * @param emptiness folders of catalogs that offer nothing any more, or did not before
 */
export function areasOf(
  scene: ClassificationInput,
  outsidePackages: readonly string[],
  { emptied, filled }: { readonly emptied: ReadonlySet<string>; readonly filled: ReadonlySet<string> },
): AreaChange[] {
  const { paths, base, merged } = scene;
  const inArea = (area: FileArea): string[] =>
    paths.filter((path) => path.area === area).map(({ path }) => path);
  const concerned = new Set([...scene.drafts.all.values()].flatMap((draft) => [...draft.paths]));
  const unowned = paths.filter((path) => isNobodys(path, concerned)).map(({ path }) => path);
  const [old, now] = [catalogsOf(base.units), catalogsOf(merged.units)];
  const areas = [
    ...areaFor('gate', inArea('gate')),
    ...areaFor('advisory', inArea('advisory')),
    ...areaFor('repository', [...new Set([...inArea('repository'), ...outsidePackages, ...unowned])]),
    ...areaFor('root', inArea('root')),
    ...areaFor('unknown', inArea('unknown')),
    ...catalogsOnlyIn('new-catalog', now, withoutFolders(old, filled), paths),
    ...catalogsOnlyIn('delete-catalog', old, withoutFolders(now, emptied), paths),
  ];
  return areas.map((area) => ({ ...area, sides: sidesOf(scene, area) }));
}

/**
 * Both sides of the paths of an area, and of the catalogs' units in its folder. An approval is also of the changes beyond the
 * limit: they are outside the layout, so they count for `unknown`.
 */
function sidesOf(
  { paths, unlisted, base, merged }: ClassificationInput,
  { area, paths: own, root }: Area,
): Sides {
  const others = area === 'unknown' ? unlisted : [];
  const changed = new Map([...paths, ...others].map((one) => [one.path, one]));
  const units = [...base.units.values(), ...merged.units.values()]
    .filter((unit) => unit.root === root)
    .map(({ path }) => path);
  return new Map(
    [...own, ...units, ...others.map(({ path }) => path)].map((path) => {
      const { before, after } = changed.get(path) ?? {
        before: base.units.get(path),
        after: merged.units.get(path),
      };
      return [path, [contentText(before), contentText(after)] as const];
    }),
  );
}

type Area = Omit<AreaChange, 'sides'>;

const FILE_AREAS: ReadonlySet<string> = new Set<FileArea>([
  'gate',
  'advisory',
  'repository',
  'root',
  'unknown',
]);

/**
 * Whether a shared path changed without a change of any package in it.
 *
 * @param concerned paths, or folders above them, in which a package changes
 */
function isNobodys({ path, area, package: name }: ChangedPath, concerned: ReadonlySet<string>): boolean {
  if (name !== undefined || FILE_AREAS.has(area)) return false;
  const names = path.split('/');
  return !names.some((_, i) => concerned.has(names.slice(0, i + 1).join('/')));
}

/** An area with its paths; none if no path is in it. */
function areaFor(area: FileArea, paths: readonly string[]): Area[] {
  return paths.length === 0 ? [] : [{ area, paths, catalog: undefined, root: undefined }];
}

/** A unit of each catalog, by the path of its folder. */
function catalogsOf(units: ReadonlyMap<string, CatalogUnit>): ReadonlyMap<string, CatalogUnit> {
  return new Map([...units.values()].map((unit) => [unit.root, unit]));
}

function withoutFolders(
  catalogs: ReadonlyMap<string, CatalogUnit>,
  folders: ReadonlySet<string>,
): ReadonlyMap<string, CatalogUnit> {
  return folders.size === 0 ? catalogs : new Map([...catalogs].filter(([root]) => !folders.has(root)));
}

/** An area for each catalog that is in one tree only, with the changed paths in it. */
function catalogsOnlyIn(
  area: 'new-catalog' | 'delete-catalog',
  here: ReadonlyMap<string, CatalogUnit>,
  there: ReadonlyMap<string, CatalogUnit>,
  changed: readonly ChangedPath[],
): Area[] {
  const names = new Set([...there.values()].map(({ catalog }) => catalog));
  return (
    [...here]
      // Packages that are made from bundle directories have places of their own, but no catalogs.
      .filter(([root, { composed, catalog }]) => !there.has(root) && !(composed && names.has(catalog)))
      .map(([root, { catalog }]) => {
        const paths = changed.filter(({ path }) => path === root || path.startsWith(`${root}/`));
        return { area, catalog, root, paths: paths.map(({ path }) => path) };
      })
  );
}
