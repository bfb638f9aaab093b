/** Places opened: whatever an image is in, it is read and written through the `Registry` port. */
import { type Reference, repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Registry } from '../../ports.ts';
import { createDockerArchive, openDockerArchive } from './archive/docker.ts';
import { createOciArchive, openOciArchive } from './archive/oci.ts';
import { formatLocation, type ImageLocation } from './image-location.ts';
import type { LayoutView } from './layout/contents.ts';
import { openLayout } from './layout/layout.ts';
import { layoutRegistry, viewRegistry } from './layout/registry.ts';
import { formatLayoutTag, type LayoutTag } from './name.ts';

/** An image to be read. */
export interface Source {
  readonly registry: Registry;
  readonly reference: Reference;
  close(): Promise<void>;
}

/** A place to write one image to. */
export interface Destination {
  readonly registry: Registry;
  /** Under which to write it. */
  readonly reference: Reference;
  /** Makes what was written to be seen; nothing of an archive is there before. */
  finish(): Promise<void>;
  /** Leaves an archive unwritten. */
  discard(): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;
/** The tag in a layout for which none was named. */
const UNNAMED = 'latest';

/**
 * Opens a place to read from.
 *
 * @param client for references; it stays open
 * @throws PipelineError `not-found`, or `usage` when it is not clear which of several images is meant
 */
export async function openSource(place: ImageLocation, client: Registry): Promise<Source> {
  if (place.kind === 'registry') return { registry: client, reference: place.reference, close: nothing };
  const name = formatLocation(place);
  if (place.kind === 'oci') {
    const layout = await openLayout(place.path, { create: false });
    return {
      registry: viewRegistry(layout, name),
      reference: await pickImage(layout, place.tag, name),
      close: nothing,
    };
  }
  const archive =
    place.kind === 'oci-archive' ? await openOciArchive(place.path) : await openDockerArchive(place.path);
  try {
    return {
      registry: viewRegistry(archive, name),
      reference: await pickImage(archive, tagIn(place), name),
      close: archive.close,
    };
  } catch (error) {
    await archive.close();
    throw error;
  }
}

/** The tag of a place in an archive; Docker's have names with registries. */
function tagIn(place: Exclude<ImageLocation, { kind: 'registry' }>): LayoutTag | undefined {
  if (place.kind !== 'docker-archive') return place.tag;
  return place.name && { repository: repositoryName(place.name), tag: place.name.tag };
}

/**
 * The image that is meant: the tag that was named, else `latest`, else the only image there is.
 *
 * @throws PipelineError `not-found`; `usage` if there are several images and no name
 */
async function pickImage(view: LayoutView, named: LayoutTag | undefined, name: string): Promise<Reference> {
  if (named) {
    const { tags } = await view.contents(named.repository);
    if (tags.has(named.tag)) return tagReference(named);
    throw new PipelineError('not-found', `image ${name} not found`, { hint: await namesIn(view) });
  }
  const { tags } = await view.contents('');
  if (tags.has(UNNAMED)) return tagReference({ repository: '', tag: UNNAMED });
  const all = await imagesIn(view);
  const [only] = all;
  if (only === undefined) throw new PipelineError('not-found', `${name} contains no image`);
  if (all.length === 1) return only;
  throw new PipelineError('usage', `${name} contains ${all.length} images`, { hint: await namesIn(view) });
}

function tagReference({ repository, tag }: LayoutTag): Reference {
  return { kind: 'tag', registry: '', repository, tag };
}

/** The images of a layout, one for each digest. Referrers and images in lists do not count. */
async function imagesIn(view: LayoutView): Promise<Reference[]> {
  const found = new Map<string, Reference>();
  for (const repository of await view.repositories()) {
    const { tags, manifests } = await view.contents(repository);
    for (const [tag, { digest }] of tags) found.set(digest, tagReference({ repository, tag }));
    const inLists = new Set<string>();
    for (const { parsed } of manifests.values()) {
      if (parsed.kind === 'list') for (const { digest } of parsed.manifests) inLists.add(digest);
    }
    for (const [digest, { parsed }] of manifests) {
      const isImage = parsed.subject === undefined && !inLists.has(digest);
      if (isImage && !found.has(digest))
        found.set(digest, { kind: 'digest', registry: '', repository, digest });
    }
  }
  return [...found.values()];
}

/** Tags that a hint names at most. */
const SHOWN_TAGS = 10;

/** The tags of a layout in one line, for hints. */
async function namesIn(view: LayoutView): Promise<string> {
  const names: string[] = [];
  for (const repository of await view.repositories()) {
    const { tags } = await view.contents(repository);
    for (const tag of tags.keys()) names.push(formatLayoutTag({ repository, tag }));
  }
  if (names.length === 0) return 'it has no tags';
  const some = names.slice(0, SHOWN_TAGS).join(', ');
  return `its tags: ${some}${names.length > SHOWN_TAGS ? ', …' : ''}`;
}

/**
 * Opens a place to write to.
 *
 * @param client for references; it stays open
 * @throws PipelineError `io`, or `usage` for a directory that is not a layout
 */
export async function openDestination(place: ImageLocation, client: Registry): Promise<Destination> {
  if (place.kind === 'registry') {
    return { registry: client, reference: place.reference, finish: nothing, discard: nothing };
  }
  if (place.kind === 'docker-archive') {
    return {
      ...(await createDockerArchive(place.path, place.name)),
      // The archive writes `place.name` itself. Its one image is put in under any tag.
      reference: tagReference({ repository: '', tag: UNNAMED }),
    };
  }
  const reference = tagReference(place.tag ?? { repository: '', tag: UNNAMED });
  if (place.kind === 'oci-archive') return { ...(await createOciArchive(place.path)), reference };
  const registry = layoutRegistry(await openLayout(place.path, { create: true }));
  return { registry, reference, finish: nothing, discard: nothing };
}
