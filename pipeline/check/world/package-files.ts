/** Which files of a touched catalog hold the touched packages, and which ones surround them. */
import type { Blobs, Catalog } from '../../../catalog/fbc/model.ts';
import type { Predecessor } from '../../../catalog/olm/foresight/world.ts';
import { type CatalogFile, fileKey } from '../../change/catalog-files.ts';
import { type ContextReader, hasAny, joinedCatalog, packagesOf } from './context.ts';
import type { CatalogReading } from './scene.ts';
import type { BeforeAndAfter, FollowingCatalog } from './touched-catalog.ts';

/** The files of a touched catalog, before their packages are known. */
interface ListedCatalog {
  readonly name: string;
  readonly packages: ReadonlySet<string>;
  /** Files that change, and those that lie where the packages do. */
  readonly own: BeforeAndAfter<readonly CatalogFile[]>;
  /** All others. */
  readonly far: BeforeAndAfter<readonly CatalogFile[]>;
  readonly next: readonly NextFiles[];
  /** Files of the next catalogs in which the packages are looked for first. */
  readonly near: readonly CatalogFile[];
}

interface NextFiles extends BeforeAndAfter<readonly CatalogFile[]> {
  readonly name: string;
}

/** A touched catalog, whose files are known to hold the packages or not. */
export interface MemberDraft {
  readonly name: string;
  readonly packages: ReadonlySet<string>;
  /** Files that hold the packages, or may hold them; they are read in full. */
  readonly own: BeforeAndAfter<readonly CatalogFile[]>;
  /** All other files of a touched catalog; they are read in outline, as far as the limits allow. Empty for other catalogs. */
  readonly around: BeforeAndAfter<readonly CatalogFile[]>;
  readonly following: readonly FollowingCatalog[];
  readonly predecessors?: readonly Predecessor[];
}

/**
 * Which files of a catalog are to be read for its packages: those that change, and those that lie where the packages
 * do.
 */
export async function listCatalogFiles(
  reading: CatalogReading,
  name: string,
  packages: ReadonlySet<string>,
  following: readonly string[],
): Promise<ListedCatalog> {
  const before = await reading.before(name);
  const after = await reading.after(name);
  const [old, now] = [before, after].map((files) => new Set(files.map(fileKey)));
  const changed = [
    ...before.filter((file) => !now?.has(fileKey(file))),
    ...after.filter((file) => !old?.has(fileKey(file))),
  ];
  const isChanged = new Set(changed.map(fileKey));
  const folders = new Set(changed.flatMap(({ unit }) => unit.package ?? []));
  const isNear = ({ unit }: CatalogFile): boolean =>
    unit.package !== undefined && (packages.has(unit.package) || folders.has(unit.package));
  const isOwn = (file: CatalogFile): boolean => isChanged.has(fileKey(file)) || isNear(file);
  const next = await Promise.all(
    following.map(async (other) => ({
      name: other,
      before: await reading.before(other),
      after: await reading.after(other),
    })),
  );
  const split = (is: (file: CatalogFile) => boolean): BeforeAndAfter<readonly CatalogFile[]> => ({
    before: before.filter(is),
    after: after.filter(is),
  });
  // What lies in no folder of a package may have a part of any: one known part says nothing of the others.
  const near = next
    .flatMap((files) => [...files.before, ...files.after])
    .filter((file) => file.unit.package === undefined || isNear(file));
  return {
    name,
    packages,
    own: split(isOwn),
    far: split((file) => !isOwn(file)),
    next,
    near,
  };
}

/**
 * Decides by their content which of the listed files hold the packages (`own`). The others (`around`) are read in outline:
 * those of the catalog itself, and those of the catalogs that follow it.
 */
export async function selectFiles(reading: CatalogReading, listed: ListedCatalog): Promise<MemberDraft> {
  const { context, reader } = reading;
  const { name, packages, own, far } = listed;
  const hasTouched = (names: ReadonlySet<string>): boolean => hasAny(names, packages);
  const side = async (
    when: keyof BeforeAndAfter<unknown>,
  ): Promise<Record<'own' | 'around', readonly CatalogFile[]>> => {
    const read = await Promise.all(own[when].map((file) => reader.read(file)));
    // What cannot be read may be theirs.
    const holds = read.map(
      ({ blobs, findings }) => findings.length > 0 || hasNameless(blobs) || hasTouched(packagesOf(blobs)),
    );
    const elsewhere = far[when].filter((file) => hasTouched(context.outline(file)?.packages ?? NO_PACKAGES));
    return {
      own: [...own[when].filter((_, i) => holds[i]), ...elsewhere],
      around: [
        ...own[when].filter((_, i) => !holds[i]),
        ...far[when].filter((one) => !elsewhere.includes(one)),
      ],
    };
  };
  const [before, after] = await Promise.all([side('before'), side('after')]);
  await context.read([...before.around, ...after.around]);
  const following: FollowingCatalog[] = [];
  for (const files of listed.next) {
    following.push({
      name: files.name,
      before: await followingCatalog(context, files.before, packages),
      after: await followingCatalog(context, files.after, packages),
    });
  }
  return {
    name,
    packages,
    own: { before: before.own, after: after.own },
    around: { before: before.around, after: after.around },
    following,
  };
}

/** Whether blobs that must name a package name none: nobody else will look at them. */
function hasNameless({ packages, channels, bundles, deprecations }: Blobs): boolean {
  const names = [...packages.map(({ name }) => name), ...channels.map((blob) => blob.package)];
  return [
    ...names,
    ...bundles.map((blob) => blob.package),
    ...deprecations.map((blob) => blob.package),
  ].includes('');
}

/** What a next catalog has of the packages: all its files are read only where some lie elsewhere than here. */
async function followingCatalog(
  context: ContextReader,
  files: readonly CatalogFile[],
  packages: ReadonlySet<string>,
): Promise<Catalog> {
  const found = (): Set<string> =>
    new Set(files.flatMap((file) => [...(context.outline(file)?.packages ?? NO_PACKAGES)]));
  const known = found();
  if ([...packages].some((name) => !known.has(name))) await context.read(files);
  return outlinesOf(context, files, packages);
}

/** What files have of packages, as far as they were read. */
export function outlinesOf(
  context: ContextReader,
  files: readonly CatalogFile[],
  packages: ReadonlySet<string>,
): Catalog {
  return joinedCatalog(
    files.flatMap((file) => {
      const outline = context.outline(file);
      return outline && hasAny(outline.packages, packages) ? [outline.catalog] : [];
    }),
  );
}

/** The packages of a file without an outline: nothing is known of it. */
export const NO_PACKAGES: ReadonlySet<string> = new Set();
