/**
 * A package in an image: its FBC and its part of opm's cache, a piece of a layer each, and the
 * facts that the rest of the image needs of it.
 */
import { blobLine, bundleFiles, metaFile, packageMember } from '../../../catalog/fbc/cache/files.ts';
import {
  CACHE_FILES,
  CONFIGS,
  sealedParts,
  type Tree,
  type TreePart,
} from '../../../catalog/fbc/cache/layout.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import { ownText } from '../../../catalog/go/text.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { PipelineError } from '../../error.ts';
import type { BundleFacts, PackageFacts, StretchFacts } from './build-cache.ts';
import { type BuildContext, packageKey, pieceKey } from './build-context.ts';
import { openPiece, type PieceFacts, type PieceSink } from './layer-piece.ts';
import { type PackageContent, ROOT } from './packages.ts';

/** The folder of the image in which a tree's files stand. */
const FOLDERS: Readonly<Record<Tree, string>> = { configs: CONFIGS, cache: CACHE_FILES };

/** A package as the image needs it: see `PackageFacts` for what is known of it without its files. */
export interface PackageLayer {
  readonly name: string;
  readonly facts: PackageFacts;
  /** Its piece in each tree; undefined where it has no files. */
  readonly pieces: Readonly<Record<Tree, PieceFacts | undefined>>;
}

/** A package's facts: from the memory if all are there, else by making it. */
export async function packageOf(name: string, context: BuildContext): Promise<PackageLayer> {
  const { memory } = context;
  const facts = memory.packages.get(packageKey(name, context));
  const piece = (tree: Tree): PieceFacts | undefined => memory.pieces.get(pieceKey(tree, name, context));
  const pieces = { configs: piece('configs'), cache: piece('cache') };
  // A tree in which the package has no files needs no piece.
  const isComplete = (tree: Tree): boolean => facts?.[tree] === undefined || pieces[tree] !== undefined;
  return facts && isComplete('configs') && isComplete('cache')
    ? { name, facts, pieces }
    : makePackage(name, context);
}

/** Makes the pieces of a package, and keeps its facts in the memory. Errors in its files go to `context.findings` instead. */
export async function makePackage(name: string, context: BuildContext): Promise<PackageLayer> {
  const content = await context.contents.read(name);
  for (const finding of content.findings) context.findings.add(finding);
  // The other packages are still read, so that one run reports all errors.
  if (content.findings.length > 0) return { name, facts: { bundles: [], metas: [] }, pieces: NONE };
  const hasCache = context.cache === 'json';
  const pkg = content.catalog.packages.get(name);
  const configs = await makePiece(
    'configs',
    name === ROOT ? rootParts(content) : packageParts(name, content),
    {
      name,
      context,
    },
  );
  const cache = hasCache && pkg ? await makePiece('cache', cacheParts(pkg), { name, context }) : undefined;
  const facts = {
    ...(configs ? { configs: configs.stretch } : {}),
    ...(cache ? { cache: cache.stretch } : {}),
    // Without the icon, which nothing reads in packages.json. `ownText`: a part of the file's text would keep all of it.
    ...(hasCache && pkg ? { member: ownText(packageMember(pkg, { icon: false })) } : {}),
    bundles: [...(pkg?.bundles.values() ?? [])].map(bundleFacts),
    metas: hasCache ? metasOf(content) : [],
  };
  context.memory.packages.set(packageKey(name, context), facts);
  return { name, facts, pieces: { configs: configs?.facts, cache: cache?.facts } };
}

const NONE: PackageLayer['pieces'] = { configs: undefined, cache: undefined };

interface FinishedPiece {
  readonly facts: PieceFacts;
  readonly stretch: StretchFacts;
}

/**
 * Writes the piece of a layer that holds these parts, and remembers it by its key.
 *
 * @returns undefined if there are no parts
 */
async function makePiece(
  tree: Tree,
  parts: Iterable<TreePart>,
  { name, context }: { readonly name: string; readonly context: BuildContext },
): Promise<FinishedPiece | undefined> {
  const key = pieceKey(tree, name, context);
  const piece = await openPiece(context.scratch, key, context.codec);
  try {
    const stretch = await writeStretch(tree, parts, piece);
    if (stretch === undefined) {
      piece.abandon();
      return undefined;
    }
    const facts = await piece.finish();
    context.memory.pieces.set(key, facts);
    return { facts, stretch };
  } catch (error) {
    piece.abandon();
    throw error;
  }
}

/**
 * Writes a stretch of a tree into a piece.
 *
 * @returns undefined when there are no parts
 */
export async function writeStretch(
  tree: Tree,
  parts: Iterable<TreePart>,
  piece: PieceSink,
): Promise<StretchFacts | undefined> {
  // Read by hand: `for…of` would drop the stretch that the generator returns.
  const sealed = sealedParts(tree, parts);
  let first: string | undefined;
  for (;;) {
    const { done, value } = sealed.next();
    if (done) {
      return first === undefined
        ? undefined
        : { path: first, length: value.length, addend: value.addend.toString(16) };
    }
    first ??= value.path;
    await piece.add({ ...value, path: `${FOLDERS[tree]}/${value.path}` });
  }
}

/** What a list of the image's content says of a bundle. */
function bundleFacts({ name, version, image }: Bundle): BundleFacts {
  return {
    name: ownText(name),
    version: version ? ownText(formatVersion(version)) : '',
    image: ownText(image),
  };
}

/** The file for blobs of no package; none where there are none. */
function rootParts(content: PackageContent): TreePart[] {
  const pieces = catalogLines(content);
  return pieces.length === 0 ? [] : [{ path: 'catalog.json', kind: 'file', pieces }];
}

/** The folder of a package and its catalog file. @throws PipelineError `usage` for a name that must not become a path */
function packageParts(name: string, content: PackageContent): TreePart[] {
  // opm validates names; what it has no rule for must not become a path either.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw new PipelineError(
      'usage',
      `the package ${JSON.stringify(name)} is not a valid folder name in an image`,
    );
  }
  return [
    { path: name, kind: 'directory', pieces: [] },
    { path: `${name}/catalog.json`, kind: 'file', pieces: catalogLines(content) },
  ];
}

/** The blobs of a package as lines of its catalog file. */
function catalogLines({ blobs }: PackageContent): Uint8Array[] {
  const encoder = new TextEncoder();
  return blobs.map((blob) => encoder.encode(blobLine(blob)));
}

/**
 * The files of a package in opm's cache, made one after the other: all of them at once would fill the memory.
 */
function* cacheParts(pkg: Parameters<typeof bundleFiles>[0]): Generator<TreePart> {
  for (const { path, bytes } of bundleFiles(pkg)) yield { path, kind: 'file', pieces: [bytes] };
}

/** The files of a package's blobs of other schemas. */
function metasOf({ blobs }: PackageContent): PackageFacts['metas'] {
  const files = blobs.filter(({ schema }) => !OLM_SCHEMAS.has(schema)).map(metaFile);
  return files.map(({ path, bytes }) => ({
    path: ownText(path),
    text: Buffer.from(bytes).toString(),
  }));
}

/** Schemas that the cache has in `packages.json` and in bundle files. */
const OLM_SCHEMAS: ReadonlySet<string> = new Set([
  'olm.package',
  'olm.channel',
  'olm.bundle',
  'olm.deprecations',
]);
