/** Where the image of a bundle's folder goes, and which it is: both are known before anything is pushed. */

import { compareText } from '../../../catalog/go/text.ts';
import { formatReference, type TagReference, tryParseReference } from '../../../catalog/reference.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { diffTrees, entryAt, isTree } from '../../git/tree.ts';
import { type ImageContent, pushImage } from '../../oci/registry/push.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Registry } from '../../ports.ts';
import { bundleImage } from '../bundle/image.ts';

/** A bundle's folder by its names. */
export interface BundleName {
  readonly package: string;
  readonly version: string;
}

/** Where a bundle's folder is in the repository. */
export function folderOf({ package: name, version }: BundleName): string {
  return `operators/${name}/${version}`;
}

export interface BuiltBundle {
  /** The tag that the image is pushed to. */
  readonly tag: TagReference;
  readonly digest: string;
  /** By digest, as catalogs name it. */
  readonly reference: string;
  readonly image: ImageContent;
}

/**
 * Makes the image of a bundle.
 *
 * @param pattern a reference with a tag, with `{package}` and `{version}` in it
 * @throws PipelineError `usage` for a bundle that is none, or a pattern that makes no reference; `too-large`
 */
export async function builtBundle(
  pattern: string,
  name: BundleName,
  source: CatalogSource,
): Promise<BuiltBundle> {
  const tag = bundleTag(pattern, name);
  const image = await bundleImage(source);
  const { digest } = image.root;
  const { registry, repository } = tag;
  return { tag, digest, image, reference: formatReference({ kind: 'digest', registry, repository, digest }) };
}

/** The tag that a bundle's image has. @throws PipelineError `usage` */
export function bundleTag(pattern: string, { package: name, version }: BundleName): TagReference {
  // A tag must not have a `+`, which stands before build metadata.
  const text = pattern.replaceAll('{package}', name).replaceAll('{version}', version.replaceAll('+', '-'));
  const reference = tryParseReference(text);
  if (reference?.kind === 'tag') return reference;
  throw new PipelineError('usage', `${JSON.stringify(text)} is not a reference with a tag`, {
    hint: "release.bundles: 'quay.io/my-org/{package}-bundle:v{version}'",
  });
}

/** Why a bundle cannot have its tag, where that is another image; undefined when it can. */
export function takenTag(
  { tag, digest }: Pick<BuiltBundle, 'tag' | 'digest'>,
  there: { readonly digest: string } | undefined,
): PipelineError | undefined {
  if (!there || there.digest === digest) return undefined;
  const said = `the bundle is ${digest}, but ${formatReference(tag)} already is ${there.digest}`;
  return new PipelineError('conflict', said, {
    hint: 'published bundles must not change: use a new version',
  });
}

/**
 * Pushes a bundle's image under its tag, which never moves.
 *
 * @returns false when it was there
 * @throws PipelineError `conflict` when the tag is another image, and whatever the registry answers
 */
export async function pushMade(registry: Registry, { tag, digest, image }: BuiltBundle): Promise<boolean> {
  const there = await registry.resolve(tag);
  const taken = takenTag({ tag, digest }, there);
  if (taken) throw taken;
  if (!there) await pushImage(registry, tag, { image });
  return !there;
}

// Bundle directories that commits have brought.

export interface AddedBundle extends BundleName {
  readonly folder: string;
}

/** Changed paths of one comparison at most: a push of more is not a release. */
const MOST_PATHS = 200_000;

/** Bundles, with manifests, that the later of two trees has and the earlier one has not; in byte order. */
export async function addedBundles(
  objects: ObjectReader,
  trees: { readonly before: string; readonly after: string },
  { layout }: Pick<Policy, 'layout'>,
): Promise<AddedBundle[]> {
  const { changes } = await diffTrees(objects, trees, MOST_PATHS);
  // The folders in which files have changed; which of them are new is seen below.
  const folders = new Map<string, AddedBundle>();
  for (const { path, after } of changes) {
    const found = after && bundleAt(path, layout);
    if (found) folders.set(found.folder, found);
  }
  const added: AddedBundle[] = [];
  for (const one of [...folders.values()].sort((a, b) => compareText(a.folder, b.folder))) {
    const [isOld, isThere] = await Promise.all(
      [trees.before, trees.after].map((tree) => hasManifests(objects, tree, one.folder)),
    );
    // A folder that had only settings until now, such as `release-config.yaml`, was not a bundle.
    if (isThere && !isOld) added.push(one);
  }
  return added;
}

/** Whether a folder of a tree has a folder of manifests. */
async function hasManifests(objects: ObjectReader, tree: string, folder: string): Promise<boolean> {
  const entry = await entryAt(objects, tree, `${folder}/manifests`);
  return entry !== undefined && isTree(entry.mode);
}

/** Those of some bundles whose directories a tree has. */
export async function bundlesIn(
  objects: ObjectReader,
  tree: string,
  names: readonly BundleName[],
): Promise<BundleName[]> {
  const there: BundleName[] = [];
  for (const one of names) {
    const entry = await entryAt(objects, tree, folderOf(one));
    if (entry && isTree(entry.mode)) there.push(one);
  }
  return there;
}

/**
 * The bundle that a file belongs to; undefined outside of `operators/PACKAGE/VERSION`, where releases look for bundles.
 */
function bundleAt(path: string, layout: Policy['layout']): AddedBundle | undefined {
  const [root, name = '', version = '', ...rest] = path.split('/');
  const match = layout.match(path);
  if (root !== 'operators' || rest.length === 0 || match?.kind !== 'bundle') return undefined;
  if (match.package !== name || match.version !== version) return undefined;
  return { package: name, version, folder: folderOf({ package: name, version }) };
}
