/**
 * APIs that Kubernetes has removed, in the manifests of a bundle.
 *
 * @see https://kubernetes.io/docs/reference/using-api/deprecation-guide/
 */

import {
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
} from '../../bundle/inspect.ts';
import { OPENSHIFT_VERSIONS, parseTolerantIfValid, versionRange } from '../../bundle/openshift-range.ts';
import { kubernetesOf } from '../../fbc/platform.ts';
import type { Location } from '../../finding.ts';
import type { Path } from '../../go/shape.ts';
import { compareVersions, parseTolerant, type Version } from '../../version/version.ts';
import type { Report } from '../rule.ts';

/** Kinds that a release removed, by `apiVersion`. */
type Removed = Readonly<Record<string, readonly string[]>>;

const REMOVED: ReadonlyMap<string, Removed> = new Map<string, Removed>([
  [
    '1.22',
    {
      'apiextensions.k8s.io/v1beta1': ['CustomResourceDefinition'],
      'scheduling.k8s.io/v1beta1': ['PriorityClass'],
      'rbac.authorization.k8s.io/v1beta1': ['Role', 'ClusterRoleBinding', 'RoleBinding', 'ClusterRole'],
      'apiregistration.k8s.io/v1beta1': ['APIService'],
      'authentication.k8s.io/v1beta1': ['TokenReview'],
      'authorization.k8s.io/v1beta1': [
        'LocalSubjectAccessReview',
        'SelfSubjectAccessReview',
        'SubjectAccessReview',
      ],
      'admissionregistration.k8s.io/v1beta1': [
        'MutatingWebhookConfiguration',
        'ValidatingWebhookConfiguration',
      ],
      'coordination.k8s.io/v1beta1': ['Lease'],
      'extensions/v1beta1': ['Ingress'],
      'networking.k8s.io/v1beta1': ['Ingress', 'IngressClass'],
      'storage.k8s.io/v1beta1': ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
      'certificates.k8s.io/v1beta1': ['CertificateSigningRequest'],
    },
  ],
  [
    '1.25',
    {
      'batch/v1beta1': ['CronJob'],
      'discovery.k8s.io/v1beta1': ['EndpointSlice'],
      'events.k8s.io/v1beta1': ['Event'],
      'autoscaling/v2beta1': ['HorizontalPodAutoscaler'],
      'policy/v1beta1': ['PodDisruptionBudget', 'PodSecurityPolicy'],
      'node.k8s.io/v1beta1': ['RuntimeClass'],
    },
  ],
  ['1.26', { 'autoscaling/v2beta2': ['HorizontalPodAutoscaler'] }],
]);

/** The release of Kubernetes that removed a kind of an API, such as 1.25; undefined for one that is served. */
export function releaseWithout(apiVersion: string, kind: string): string | undefined {
  return [...REMOVED].find(([, removed]) => removed[apiVersion]?.includes(kind))?.[0];
}

interface Use {
  /** Kind and name of what uses the API. */
  readonly what: string;
  readonly location: Location;
}

/** Makes the check of what one release removed. */
export function checkRemovedIn(release: string): (bundle: Inspected, report: Report) => void {
  return (bundle, report) => {
    const hint = `https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v${release.replace('.', '-')}`;
    for (const { what, location } of usesOf(bundle, release)) {
      const severity = isReached(bundle, release) ? 'error' : 'warning';
      report(`${what}: Kubernetes ${release} removed the API`, location, { hint, severity });
    }
    // The release that removed pod security policies.
    if (release !== '1.25') return;
    for (const { what, location } of podSecurityUses(bundle)) {
      report(`${what}: Kubernetes ${release} removed the API`, location, { hint, severity: 'warning' });
    }
  };
}

/** The objects of a bundle that use APIs which a release removed. */
export function usesOf({ objects, csv }: Inspected, release: string): Use[] {
  const removed = REMOVED.get(release) ?? {};
  const isRemoved = (apiVersion: string, kind: string): boolean =>
    removed[apiVersion]?.includes(kind) ?? false;
  const uses = objects
    .filter(({ value, kind }) => isRemoved(memberText(value, 'apiVersion'), kind))
    .map(({ value, kind, name, document }) => ({
      what: `${kind} ${JSON.stringify(name)} of ${memberText(value, 'apiVersion')}`,
      location: document.locate(['apiVersion']),
    }));
  // As the validator of operator-framework/api, which looks at the resources of CRDs for 1.25 alone.
  for (const which of csv && release === '1.25' ? ['owned', 'required'] : []) {
    for (const [i, crd] of memberObjects(csv?.spec, 'customresourcedefinitions', which).entries()) {
      for (const [j, resource] of memberObjects(crd, 'resources').entries()) {
        const [version, kind] = [memberText(resource, 'version'), memberText(resource, 'kind')];
        const path: Path = ['spec', 'customresourcedefinitions', which, i, 'resources', j];
        if (csv && isRemoved(version, kind))
          uses.push({ what: `${kind} of ${version} at ${path.join('.')}`, location: csv.at(...path) });
      }
    }
  }
  return uses;
}

/** Permissions for pod security policies, unless a definition lists them as its resource. */
export function podSecurityUses({ csv }: Inspected): Use[] {
  if (!csv) return [];
  const listed = ['owned', 'required'].flatMap((which) =>
    memberObjects(csv.spec, 'customresourcedefinitions', which).flatMap((crd) =>
      memberObjects(crd, 'resources').map((resource) => `${memberText(resource, 'kind').toLowerCase()}s`),
    ),
  );
  // The validator forms the plural of a kind with a bare s.
  if (listed.includes('podsecuritypolicies') || listed.includes('podsecuritypolicys')) return [];
  return ['clusterPermissions', 'permissions'].flatMap((section) =>
    memberObjects(csv.spec, 'install', 'spec', section).flatMap((permission, i) =>
      memberObjects(permission, 'rules').flatMap((rule, j) => {
        const asks =
          memberTexts(rule, 'apiGroups').includes('policy') &&
          memberTexts(rule, 'resources').includes('podsecuritypolicies');
        const path: Path = ['spec', 'install', 'spec', section, i, 'rules', j];
        return asks
          ? [{ what: `podsecuritypolicies in ${section}[${i}].rules[${j}]`, location: csv.at(...path) }]
          : [];
      }),
    ),
  );
}

/** Whether the bundle is for clusters of a release or later. */
function isReached(bundle: Inspected, release: string): boolean {
  const { csv, options } = bundle;
  const target = parseTolerant(release);
  if (options.isCertified && isCertifiedFor(bundle, target)) return true;
  const known = [options.kubernetesVersion, csv && memberText(csv.spec, 'minKubeVersion')].map((version) =>
    parseTolerantIfValid(version ?? ''),
  );
  return known.some((version) => version !== undefined && compareVersions(version, target) >= 0);
}

/**
 * Whether certification checks a bundle for a version of Kubernetes: that of the last release in its range for OpenShift.
 *
 * @see https://github.com/redhat-openshift-ecosystem/openshift-preflight/blob/main/internal/bundle/bundle.go
 */
function isCertifiedFor({ annotations }: Inspected, kubernetes: Version): boolean {
  const range = annotations && versionRange(memberText(annotations.values, OPENSHIFT_VERSIONS));
  if (!range) return false;
  if (!range.last) return true;
  const last = kubernetesOf({ major: Number(range.last.major), minor: Number(range.last.minor) });
  return last !== undefined && last.minor >= Number(kubernetes.minor);
}

export function checkMinKubeUsable({ csv, options }: Inspected, report: Report): void {
  const { kubernetesVersion = '' } = options;
  if (csv && kubernetesVersion !== '' && !parseTolerantIfValid(kubernetesVersion)) {
    const message = `the Kubernetes version ${JSON.stringify(kubernetesVersion)} to check for is not a valid version, so Portolan cannot check for removed APIs`;
    report(message, csv.at(), { hint: 'for example 1.25' });
  }
  const version = csv ? memberText(memberObject(csv.spec), 'minKubeVersion') : '';
  if (!csv || version === '' || parseTolerantIfValid(version)) return;
  const message = `minKubeVersion ${JSON.stringify(version)} is not a valid version, so Portolan cannot check for removed APIs`;
  report(message, csv.at('spec', 'minKubeVersion'));
}
