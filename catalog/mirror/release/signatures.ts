/** Signatures of OpenShift releases for disconnected clusters, which cannot fetch them before an update. */
import { encodeBase64 } from '../../go/base64.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';

export interface ReleaseSignature {
  /** Of the release payload: `sha256:…`. */
  readonly digest: string;
  /** The signed message, as it was published. */
  readonly bytes: Uint8Array;
}

/**
 * The config map in which the cluster version operator looks for signatures; none without signatures.
 *
 * @see https://github.com/openshift/cluster-version-operator/blob/main/docs/user/update-verification.md
 */
export function signatureConfigMap(signatures: readonly ReleaseSignature[]): KubernetesObject[] {
  if (signatures.length === 0) return [];
  const counts = new Map<string, number>();
  const data = signatures.map(({ digest, bytes }): [string, string] => {
    const count = (counts.get(digest) ?? 0) + 1;
    counts.set(digest, count);
    return [`${digest.replace(':', '-')}-${count}`, encodeBase64(bytes)];
  });
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'mirrored-release-signatures',
        namespace: 'openshift-config-managed',
        labels: { 'release.openshift.io/verification-signatures': '' },
      },
      binaryData: Object.fromEntries(data.sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  ];
}
