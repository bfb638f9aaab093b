/**
 * ImageDigestMirrorSet and ImageTagMirrorSet: where nodes look for images, from
 * OpenShift 4.13 on.
 *
 * @see https://github.com/openshift/api/blob/master/config/v1/types_image_digest_mirror_set.go
 * @see https://github.com/openshift/api/blob/master/config/v1/types_image_tag_mirror_set.go
 */

import { InvalidOption } from '../invalid-option.ts';
import { type KubernetesObject, type Metadata, objectText } from '../kubernetes-object.ts';
import type { MirrorEntry } from '../scope.ts';

/** Whether a node may still ask the source when no mirror has an image. */
export type SourcePolicy = 'AllowContactingSource' | 'NeverContactSource';

interface MirrorSetOptions {
  /** Its name gets `-0`, `-1`, … . */
  readonly metadata: Metadata;
  /** Absent: as the cluster decides, which is to allow it. */
  readonly sourcePolicy?: SourcePolicy | undefined;
  /** Most bytes of one object's text. */
  readonly maxBytes: number;
}

/**
 * The objects for references by digest.
 *
 * @throws InvalidOption when a single entry is larger than `maxBytes`
 */
export function imageDigestMirrorSets(
  entries: readonly MirrorEntry[],
  options: MirrorSetOptions,
): KubernetesObject[] {
  return mirrorSets(entries, { kind: 'ImageDigestMirrorSet', list: 'imageDigestMirrors' }, options);
}

/**
 * The objects for references by tag.
 *
 * @throws InvalidOption when a single entry is larger than `maxBytes`
 */
export function imageTagMirrorSets(
  entries: readonly MirrorEntry[],
  options: MirrorSetOptions,
): KubernetesObject[] {
  return mirrorSets(entries, { kind: 'ImageTagMirrorSet', list: 'imageTagMirrors' }, options);
}

interface Kind {
  readonly kind: string;
  /** The field that holds the entries. */
  readonly list: string;
}

/** The mirror sets of one kind: as many objects as it takes to keep each below `maxBytes`. */
function mirrorSets(
  entries: readonly MirrorEntry[],
  { kind, list }: Kind,
  { metadata, sourcePolicy, maxBytes }: MirrorSetOptions,
): KubernetesObject[] {
  const policy = sourcePolicy === undefined ? {} : { mirrorSourcePolicy: sourcePolicy };
  const objectOf: ObjectOf = (part, index) => ({
    apiVersion: 'config.openshift.io/v1',
    kind,
    metadata: { ...metadata, name: `${metadata.name}-${index}` },
    spec: { [list]: part.map(({ source, mirrors }) => ({ source, mirrors, ...policy })) },
  });
  return splitBySize(entries, objectOf, maxBytes);
}

// ImageContentSourcePolicy: where nodes look for images by digest, up to OpenShift 4.12
// (and later, beside nothing else).
//
// @see https://github.com/openshift/api/blob/master/operator/v1alpha1/types_image_content_source_policy.go

/**
 * The policies, named after the metadata with `-0`, `-1`, … .
 *
 * @param maxBytes most bytes of one object's text
 * @throws InvalidOption when a single entry is larger than that
 */
export function imageContentSourcePolicies(
  entries: readonly MirrorEntry[],
  metadata: Metadata,
  maxBytes: number,
): KubernetesObject[] {
  return splitBySize(
    entries,
    (part, index) => ({
      apiVersion: 'operator.openshift.io/v1alpha1',
      kind: 'ImageContentSourcePolicy',
      metadata: { ...metadata, name: `${metadata.name}-${index}` },
      spec: { repositoryDigestMirrors: part.map(({ source, mirrors }) => ({ source, mirrors })) },
    }),
    maxBytes,
  );
}

// Objects that hold a list of entries, as many as it takes to keep each below a size:
// what a cluster stores of one object is limited.

/** oc's limit, in bytes: a quarter of a million. */
export const MAX_OBJECT_BYTES = 250_000;

/** Makes the object of that index with those entries. */
type ObjectOf = (entries: readonly MirrorEntry[], index: number) => KubernetesObject;

/**
 * Fills one object after the other, in the order of the entries.
 *
 * @throws InvalidOption when an object with a single entry is larger than `maxBytes`
 */
function splitBySize(
  entries: readonly MirrorEntry[],
  objectOf: ObjectOf,
  maxBytes: number,
): KubernetesObject[] {
  // Most plans are small: one look at the whole settles it.
  if (entries.length === 0) return [];
  const whole = objectOf(entries, 0);
  if (countedBytes(whole) <= maxBytes) return [whole];
  const objects: KubernetesObject[] = [];
  let part: MirrorEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (part.length > 0) bytes += entryBytes(entry, objectOf);
    if (part.length > 0 && bytes > maxBytes) {
      objects.push(objectOf(part, objects.length));
      part = [];
    }
    if (part.length === 0) bytes = bytesAlone(entry, objectOf([entry], objects.length), maxBytes);
    part.push(entry);
  }
  if (part.length > 0) objects.push(objectOf(part, objects.length));
  return objects;
}

/** What an entry adds to a list: the text of a list is that of its entries. */
function entryBytes(entry: MirrorEntry, objectOf: ObjectOf): number {
  return countedBytes(objectOf([entry, entry], 0)) - countedBytes(objectOf([entry], 0));
}

/**
 * How many bytes an object with a single entry has.
 *
 * @throws InvalidOption when these are too many: no split can help then
 */
function bytesAlone(entry: MirrorEntry, alone: KubernetesObject, maxBytes: number): number {
  const bytes = countedBytes(alone);
  if (bytes <= maxBytes) return bytes;
  throw new InvalidOption(
    `an ${alone.kind} with only the mirror of ${entry.source} has ${bytes} bytes, the limit is ${maxBytes}`,
  );
}

/** The field that Go's types of mirror sets print even when it is empty; oc counts it, then leaves it out. */
const EMPTY_STATUS = 'status: {}\n'.length;

/** How many bytes an object has by oc's count. */
function countedBytes(object: KubernetesObject): number {
  const empty = object.kind === 'ImageContentSourcePolicy' ? 0 : EMPTY_STATUS;
  return new TextEncoder().encode(objectText(object)).length + empty;
}
