/**
 * ImageContentSourcePolicy: where nodes look for images by digest, up to OpenShift 4.12
 * (and later, beside nothing else).
 *
 * @see https://github.com/openshift/api/blob/master/operator/v1alpha1/types_image_content_source_policy.go
 */
import type { KubernetesObject, Metadata } from '../kubernetes-object.ts';
import type { MirrorEntry } from '../scope.ts';
import { splitBySize } from './split.ts';

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
