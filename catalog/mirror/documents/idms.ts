/**
 * ImageDigestMirrorSet and ImageTagMirrorSet: where nodes look for images, from
 * OpenShift 4.13 on.
 *
 * @see https://github.com/openshift/api/blob/master/config/v1/types_image_digest_mirror_set.go
 * @see https://github.com/openshift/api/blob/master/config/v1/types_image_tag_mirror_set.go
 */
import type { KubernetesObject, Metadata } from '../kubernetes-object.ts';
import type { MirrorEntry } from '../scope.ts';
import { type ObjectOf, splitBySize } from './split.ts';

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
