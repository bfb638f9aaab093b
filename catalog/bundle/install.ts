/**
 * The objects that OLM v1 makes of a bundle when it is installed for all namespaces.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/render/registryv1/generators/generators.go
 */
import { escapeHtml } from '../go/json-marshal.ts';
import { compareText } from '../go/text.ts';
import {
  deploymentsOf,
  type Fields,
  type Inspected,
  memberObjects,
  memberText,
  memberTexts,
  type TypedCsv,
} from './inspect.ts';

/** An object on the cluster, as permissions name it. */
export interface InstalledObject {
  readonly group: string;
  readonly kind: string;
  /** Plural and lower case, such as `deployments`. */
  readonly resource: string;
  readonly namespaced: boolean;
  readonly name: string;
}

/** A rule of a role, in the order of Go's fields. */
export type PolicyRule = Readonly<Record<string, readonly string[]>>;

export interface Installed {
  readonly objects: readonly InstalledObject[];
  /** What the operator may do: who installs it must be allowed to give as much. */
  readonly grants: readonly PolicyRule[];
}

interface InstallOptions {
  /** SHA-224 of bytes, in hexadecimal digits. */
  readonly hash: (bytes: Uint8Array) => string;
  /** Who makes the certificates of webhooks: cert-manager, or OpenShift's service CA, which needs no objects. */
  readonly certificates: 'cert-manager' | 'service-ca';
}

interface KindFacts {
  readonly group: string;
  readonly resource: string;
  readonly namespaced: boolean;
}

/** What is known of a kind that OLM creates. */
function kind(group: string, resource: string, namespaced: boolean): KindFacts {
  return { group, resource, namespaced };
}

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';

/** Kinds that bundles hold, or OLM makes of them. OLM takes VerticalPodAutoscalers for objects of the cluster. */
const KINDS: ReadonlyMap<string, KindFacts> = new Map([
  ['CustomResourceDefinition', kind('apiextensions.k8s.io', 'customresourcedefinitions', false)],
  ['ClusterRole', kind(RBAC, 'clusterroles', false)],
  ['ClusterRoleBinding', kind(RBAC, 'clusterrolebindings', false)],
  ['Role', kind(RBAC, 'roles', true)],
  ['RoleBinding', kind(RBAC, 'rolebindings', true)],
  ['Deployment', kind('apps', 'deployments', true)],
  ['Service', kind('', 'services', true)],
  ['ServiceAccount', kind('', 'serviceaccounts', true)],
  ['Secret', kind('', 'secrets', true)],
  ['ConfigMap', kind('', 'configmaps', true)],
  ['PrometheusRule', kind('monitoring.coreos.com', 'prometheusrules', true)],
  ['ServiceMonitor', kind('monitoring.coreos.com', 'servicemonitors', true)],
  ['PodMonitor', kind('monitoring.coreos.com', 'podmonitors', true)],
  ['PodDisruptionBudget', kind('policy', 'poddisruptionbudgets', true)],
  ['PriorityClass', kind('scheduling.k8s.io', 'priorityclasses', false)],
  ['VerticalPodAutoscaler', kind('autoscaling.k8s.io', 'verticalpodautoscalers', false)],
  ['ConsoleYAMLSample', kind('console.openshift.io', 'consoleyamlsamples', false)],
  ['ConsoleQuickStart', kind('console.openshift.io', 'consolequickstarts', false)],
  ['ConsoleCLIDownload', kind('console.openshift.io', 'consoleclidownloads', false)],
  ['ConsoleLink', kind('console.openshift.io', 'consolelinks', false)],
  ['ConsolePlugin', kind('console.openshift.io', 'consoleplugins', false)],
  ['NetworkPolicy', kind('networking.k8s.io', 'networkpolicies', true)],
  ['ValidatingWebhookConfiguration', kind(ADMISSION, 'validatingwebhookconfigurations', false)],
  ['MutatingWebhookConfiguration', kind(ADMISSION, 'mutatingwebhookconfigurations', false)],
  ['Certificate', kind('cert-manager.io', 'certificates', true)],
  ['Issuer', kind('cert-manager.io', 'issuers', true)],
]);

/** One object in a list; an empty list if OLM does not create objects of the kind. */
function objectOfKind(kindName: string, name: string): InstalledObject[] {
  const facts = KINDS.get(kindName);
  return facts ? [{ kind: kindName, name, ...facts }] : [];
}

/** The objects of a bundle, each once, by kind and name; none without a ClusterServiceVersion. */
export function installedObjects(bundle: Inspected, options: InstallOptions): Installed {
  const { csv } = bundle;
  if (!csv) return { objects: [], grants: [] };
  const permissions = permissionsOf(csv);
  // Each namespace has an account `default` already.
  const accounts = new Set(permissions.map(({ account }) => account).filter((name) => name !== 'default'));
  const objects = [
    ...bundle.allObjects.flatMap((object) =>
      object.kind === 'ClusterServiceVersion' ? [] : objectOfKind(object.kind, object.name),
    ),
    ...deploymentsOf(csv).flatMap(({ value }) => objectOfKind('Deployment', memberText(value, 'name'))),
    ...[...accounts].flatMap((name) => objectOfKind('ServiceAccount', name)),
    ...permissions.flatMap((permission) => roleObjects(csv.name, permission, options)),
    ...webhookObjects(csv, options),
  ];
  const unique = new Map(objects.map((object) => [`${object.kind}/${object.name}`, object]));
  return {
    objects: [...unique].sort(([a], [b]) => compareText(a, b)).map(([, object]) => object),
    grants: permissions.flatMap(({ rules }) => rules),
  };
}

interface Permission {
  readonly account: string;
  /** As JSON, the name of the account as it is written. */
  readonly written: string;
  readonly rules: readonly PolicyRule[];
}

/** The permissions of an operator that is installed for all namespaces: it has them everywhere. Those of `permissions` bring the right to see namespaces. */
function permissionsOf({ spec }: TypedCsv): Permission[] {
  const seesNamespaces: PolicyRule = {
    verbs: ['get', 'list', 'watch'],
    apiGroups: [''],
    resources: ['namespaces'],
  };
  const read = (section: string, added: readonly PolicyRule[]): Permission[] =>
    memberObjects(spec, 'install', 'spec', section).map((permission) => {
      const written = memberText(permission, 'serviceAccountName');
      return { account: written || 'default', written, rules: [...rulesOf(permission), ...added] };
    });
  return [...read('clusterPermissions', []), ...read('permissions', [seesNamespaces])];
}

const RULE_FIELDS = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'];

/** The rules of a permission as Go writes them: the name of a role is a hash of that text. */
function rulesOf(permission: Fields): PolicyRule[] {
  return memberObjects(permission, 'rules').map((rule) =>
    Object.fromEntries(
      RULE_FIELDS.map((field) => [field, memberTexts(rule, field)] as const).filter(
        // Go writes `verbs` even if it is empty, and leaves out the other fields.
        ([field, values]) => field === 'verbs' || values.length > 0,
      ),
    ),
  );
}

/** OLM v1 names a role by a hash of the permission as Go writes it in JSON, so the text must be equal to the byte. */
function roleObjects(
  csv: string,
  { account, written, rules }: Permission,
  { hash }: InstallOptions,
): InstalledObject[] {
  const json = `${escapeHtml(JSON.stringify({ serviceAccountName: written, rules }))}\n`;
  const suffix = BigInt(`0x${hash(new TextEncoder().encode(json))}`).toString(36);
  const name = joinedName(`${csv}-${account}`, suffix);
  return [...objectOfKind('ClusterRole', name), ...objectOfKind('ClusterRoleBinding', name)];
}

/** Characters of a DNS label. */
const LONGEST_NAME = 63;

/**
 * A name with a suffix, cut so that it fits into a label. As in OLM, the check does not count the dash, so 64
 * characters are possible.
 */
function joinedName(base: string, suffix: string): string {
  const room = base.length + suffix.length > LONGEST_NAME ? LONGEST_NAME - suffix.length - 1 : base.length;
  return `${base.slice(0, room)}-${suffix}`;
}

/**
 * The objects that OLM creates for a bundle's webhooks: services and certificates of their deployments, and the
 * configurations.
 */
function webhookObjects(csv: TypedCsv, { certificates }: InstallOptions): InstalledObject[] {
  const webhooks = memberObjects(csv.spec, 'webhookdefinitions');
  const deployments = new Set(webhooks.map((webhook) => memberText(webhook, 'deploymentName')));
  const services = deploymentsOf(csv).flatMap(({ value }) => {
    const name = memberText(value, 'name');
    return deployments.has(name) ? serviceObjects(name, certificates) : [];
  });
  const configurations = webhooks.flatMap((webhook) => {
    // OLM v1 uses generateName as the name, without the dash before a random ending.
    const name = memberText(webhook, 'generateName').replace(/-$/, '');
    const [, which] = /^(Validating|Mutating)AdmissionWebhook$/.exec(memberText(webhook, 'type')) ?? [];
    return which === undefined ? [] : objectOfKind(`${which}WebhookConfiguration`, name);
  });
  return [...services, ...configurations];
}

/**
 * The service of a deployment with webhooks and, with cert-manager, its certificate and the issuer of that. OLM writes
 * dashes for the dots of the deployment's name.
 */
function serviceObjects(deployment: string, certificates: InstallOptions['certificates']): InstalledObject[] {
  const service = joinedName(deployment.replaceAll('.', '-'), 'service');
  const certificate = joinedName(service, 'cert');
  return [
    ...objectOfKind('Service', service),
    ...(certificates === 'cert-manager'
      ? [
          ...objectOfKind('Certificate', certificate),
          ...objectOfKind('Issuer', joinedName(certificate, 'selfsigned-issuer')),
        ]
      : []),
  ];
}
