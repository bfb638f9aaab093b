/**
 * A registry that is read where mirrors have its images, as nodes read it: the mirrors of the longest prefix of a name
 * in their order, then the source unless it may not be asked. What is written goes where it is said to go.
 *
 * @see https://github.com/containers/image/blob/main/docs/containers-registries.conf.5.md
 */
import { type NodeConfig, pullOnNode } from '../../../catalog/mirror/node/node.ts';
import {
  formatReference,
  parseReference,
  type Reference,
  repositoryName,
  withDigest,
} from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Descriptor, Registry, Repository } from '../../ports.ts';

export interface MirroredOptions {
  /** Which mirrors names have, as nodes are configured. */
  readonly config: NodeConfig;
  /** Reads mirrors; the registry itself reads sources. */
  readonly mirrors: Registry;
  /** Whether a name may be asked for at all, wherever its images are; every name may when left out. */
  readonly allows?: (repository: Repository) => boolean;
}

/** Where a reference is asked for: its name there, and what reads it. */
interface Place {
  readonly reference: Reference;
  readonly registry: Registry;
  /** Whether it is the source itself, not a mirror. */
  readonly isSource: boolean;
}

/** A mirror's failure that no other place made up for. The source may have answered. */
export class MirrorFailure extends PipelineError {
  /** How the source failed, if it did. */
  readonly ofSource: PipelineError | undefined;

  constructor(failure: PipelineError, ofSource: PipelineError | undefined) {
    super(failure.code, failure.message, { ...failure, cause: failure });
    this.ofSource = ofSource;
  }
}

/** Reads through mirrors; only what reads an image is changed. */
export function readThroughMirrors<R extends Registry>(source: R, options: MirroredOptions): R {
  /** The repositories that have answered with a manifest, by the name that was asked for. */
  const holders = new Map<string, Place>();
  /**
   * Where to ask for a reference, in order. After a manifest was found, its digests are asked for in the same place first: what
   * belongs to it is there, even if the configuration sends digests elsewhere.
   */
  const placesOf = (reference: Reference): Place[] => {
    const places = placesFor(reference, source, options);
    const holder = holders.get(repositoryName(reference));
    if (reference.kind !== 'digest' || !holder) return places;
    const { reference: found, ...place } = holder;
    const isHolder = (other: Place): boolean =>
      repositoryName(other.reference) === repositoryName(found) && other.registry === place.registry;
    const first: Place = { ...place, reference: withDigest(found, reference.digest) };
    return [first, ...places.filter((other) => !isHolder(other))];
  };
  const ofBlob = (from: Repository, digest: string): Place[] =>
    placesOf({ ...nameOfRepository(from), kind: 'digest', digest });
  const keepHolder = (reference: Reference, place: Place): void => {
    holders.set(repositoryName(reference), place);
  };
  return {
    ...source,
    resolve: (reference) =>
      firstOf(placesOf(reference), async (place) => {
        const found = await place.registry.resolve(place.reference);
        if (found) keepHolder(reference, place);
        return found;
      }),
    getManifest: (reference) =>
      firstOf(placesOf(reference), async (place) => {
        const found = await place.registry.getManifest(place.reference);
        if (found) keepHolder(reference, place);
        return found;
      }),
    getBlob: (from, blob) => firstBlob(ofBlob(from, blob.digest), blob),
    hasBlob: async (from, digest, size) =>
      (await firstOf(ofBlob(from, digest), async ({ registry, reference }) =>
        (await registry.hasBlob(reference, digest, size)) ? true : undefined,
      )) === true,
    listReferrers: async (of, digest, artifactType) =>
      (await firstOf(ofBlob(of, digest), async ({ registry, reference }) => {
        const found = await registry.listReferrers(reference, digest, artifactType);
        return found.length > 0 ? found : undefined;
      })) ?? [],
    // Any tag will do here: only its repository is looked up.
    listTags: (of) => allTags(placesOf({ ...nameOfRepository(of), kind: 'tag', tag: 'latest' })),
  };
}

/** A repository without the tag or digest of the reference that it may be. */
function nameOfRepository({ registry, repository }: Repository): Repository {
  return { registry, repository };
}

/** Where a reference is asked for, in order. @throws PipelineError `usage`, `not-allowed` */
function placesFor(reference: Reference, source: Registry, options: MirroredOptions): Place[] {
  const { config, mirrors, allows } = options;
  const written = formatReference(reference);
  const pull = pullOnNode(config, written, reference);
  if ('refused' in pull) throw new PipelineError('usage', `${written}: ${pull.refused}`);
  // No mirror is configured for it: the source itself checks whether it may be asked.
  if (pull.asked.length === 1 && !pull.sourceBlocked && pull.asked[0] === written)
    return [{ reference, registry: source, isSource: true }];
  if (allows && !allows(reference)) {
    throw new PipelineError('not-allowed', `${repositoryName(reference)} is not an allowed registry`, {
      hint: `allow ${reference.registry} in the policy`,
    });
  }
  const places = pull.asked.map((text, i) => {
    // A node asks the source last.
    const isSource = i === pull.asked.length - 1;
    const isUnchanged = isSource && repositoryName(parseReference(text)) === repositoryName(reference);
    // Only the source is asked for the reference as it was given: for mirrors, nodes drop the tag beside a digest.
    return isUnchanged
      ? { reference, registry: source, isSource }
      : { reference: parseReference(text), registry: mirrors, isSource };
  });
  return pull.sourceBlocked ? places.slice(0, -1) : places;
}

/**
 * The first result that a place gives.
 *
 * @returns undefined if all places say that they have none
 * @throws PipelineError of the first place that did not answer, as nobody knows what it has, as a {@link MirrorFailure} where
 *   that is a mirror; `not-found` only if no place failed otherwise
 */
async function firstOf<T>(
  places: readonly Place[],
  ask: (place: Place) => Promise<T | undefined>,
): Promise<T | undefined> {
  let failure: PipelineError | undefined;
  let ofSource: PipelineError | undefined;
  for (const place of places) {
    try {
      const found = await ask(place);
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      if (place.isSource) ofSource = error;
      if (failure === undefined || failure.code === 'not-found') failure = error;
    }
  }
  if (failure) throw failure === ofSource ? failure : new MirrorFailure(failure, ofSource);
  return undefined;
}

/** The bytes of a blob from the first place that has it. Once bytes have left, an error there ends the download. */
async function* firstBlob(
  places: readonly Place[],
  blob: Pick<Descriptor, 'digest' | 'size'>,
): AsyncGenerator<Uint8Array> {
  const opened = await firstOf(places, async ({ registry, reference }) => {
    const chunks = registry.getBlob(reference, blob)[Symbol.asyncIterator]();
    return { chunks, first: await chunks.next() };
  });
  if (!opened)
    throw new PipelineError('not-found', `no mirror has ${blob.digest}, and its source may not be asked`);
  try {
    for (let next = opened.first; !next.done; next = await opened.chunks.next()) yield next.value;
  } finally {
    await opened.chunks.return?.();
  }
}

/** The tags of all places that answer, each once. */
async function* allTags(places: readonly Place[]): AsyncGenerator<string> {
  const seen = new Set<string>();
  let failure: PipelineError | undefined;
  let answers = 0;
  for (const { registry, reference } of places) {
    try {
      for await (const tag of registry.listTags(reference)) {
        if (!seen.has(tag)) yield tag;
        seen.add(tag);
      }
      answers++;
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      failure ??= error;
    }
  }
  if (failure && answers === 0) throw failure;
}
