/**
 * Signatures of mirrored images: the policy by which nodes demand them, and the
 * configuration by which tools look for them beside the images.
 *
 * @see https://github.com/openshift/api/blob/master/config/v1/types_image_policy.go
 * @see https://github.com/containers/image/blob/main/docs/containers-registries.d.5.md
 */
import { hashedName } from '../../names.ts';
import { repositoryName, tryParseReference } from '../../reference.ts';
import type { Json } from '../../yaml/scalar.ts';
import { type KubernetesObject, objectText } from '../kubernetes-object.ts';
import { destinationRepository } from '../placement.ts';
import type { MirrorPlan } from '../plan.ts';

/** Who signs what. */
export interface Signer {
  /** Images as pods name them: a registry, a namespace or a repository. */
  readonly scope: string;
  /** The public key: base64 of PEM. */
  readonly keyData: string;
}

/**
 * One policy a signer. Pods name the source, so that is the scope; where the cluster is
 * told of an index image in the mirror, a second policy says whose signature it has.
 */
export function clusterImagePolicies(plan: MirrorPlan, signers: readonly Signer[]): KubernetesObject[] {
  return signers.flatMap(({ scope, keyData }) => {
    const rootOfTrust = { policyType: 'PublicKey', publicKey: { keyData } };
    const sources = policy(hashedName(scope, scope), scope, { rootOfTrust });
    const indexes = mirroredIndexes(plan, scope).map(({ mirror, source }) =>
      policy(hashedName(mirror, `${mirror} ${scope}`), mirror, {
        rootOfTrust,
        signedIdentity: {
          matchPolicy: 'RemapIdentity',
          remapIdentity: { prefix: mirror, signedPrefix: source },
        },
      }),
    );
    return [sources, ...indexes];
  });
}

/** A policy for images in a scope. */
function policy(name: string, scope: string, rules: Json): KubernetesObject {
  return {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterImagePolicy',
    metadata: { name },
    spec: { scopes: [scope], policy: rules },
  };
}

/** The repositories of index images below a scope, in the mirror and at their source. */
function mirroredIndexes({ catalogs }: MirrorPlan, scope: string): { mirror: string; source: string }[] {
  return catalogs.flatMap(({ reference, destination }) => {
    const wanted = tryParseReference(reference);
    // One that was read from a directory has no source that somebody signs for.
    if (!wanted) return [];
    const source = repositoryName(wanted);
    const isBelow = source === scope || source.startsWith(`${scope}/`);
    return isBelow ? [{ mirror: destinationRepository(destination), source }] : [];
  });
}

/** A file for `registries.d`: signatures are looked for beside the images, at the source and in the mirror. */
export function registriesDirectoryText(plan: MirrorPlan, signers: readonly Signer[]): string {
  const { registry, path } = plan.home;
  const mirror = path === '' ? registry : `${registry}/${path}`;
  const scopes = [...new Set([...signers.map(({ scope }) => scope), mirror])];
  return objectText({
    docker: Object.fromEntries(scopes.map((scope) => [scope, { 'use-sigstore-attachments': true }])),
  });
}
