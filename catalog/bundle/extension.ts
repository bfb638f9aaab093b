/**
 * What an administrator writes to install a bundle: for OLM v1 the ClusterExtension with what its release needs (an
 * installer with exactly the permissions that it needs, or a policy for who may install what), for OLM v0 the
 * OperatorGroup and the Subscription.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/v1.10.0/docs/howto/derive-service-account.md
 * @see https://github.com/operator-framework/operator-controller/blob/main/docs/howto/how-to-protect-olmv1-api-access.md
 */

import { appendToGroup } from '../go/grouped.ts';
import { tryReadJson } from '../go/json.ts';
import { isObject } from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { isDnsLabel, objectName } from '../names.ts';
import type { Json } from '../yaml/scalar.ts';
import {
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
  PREFIX,
  type TypedCsv,
} from './inspect.ts';
import type { Installed, InstalledObject, PolicyRule } from './install.ts';

export interface InstallationOptions {
  /** Name of the ClusterExtension or the Subscription. */
  readonly name: string;
  readonly namespace: string;
  readonly package: string;
  /** A version or a range; any version when left out. */
  readonly version?: string;
  readonly channel?: string;
  /** The one namespace that the operator watches; all when left out. */
  readonly watched?: string;
  /** Settings of the operator's deployments, as `spec.config` of a Subscription has them. */
  readonly deployment?: Json;
}

export interface ExtensionOptions extends InstallationOptions {
  /** Whether upgrades follow the catalog's edges. */
  readonly upgrades?: 'CatalogProvided' | 'SelfCertified';
  /** Whether an unsafe upgrade of a CRD is refused. */
  readonly crdSafety?: 'Strict' | 'None';
  /** Name of the only ClusterCatalog to take it from; any when left out. */
  readonly catalog?: string;
  /** Whether OLM v1 chooses and makes the namespace, which only its experimental API does. */
  readonly managedNamespace?: boolean;
}

/** The label that catalogd gives each ClusterCatalog. */
export const CATALOG_NAME_LABEL = 'olm.operatorframework.io/metadata.name';

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io/v1';

/**
 * The documents for an OLM v1 that installs by a service account, up to OpenShift 4.22.
 *
 * @param api `v1alpha1` is the technology preview in OpenShift 4.17
 */
export function accountDocuments(
  bundle: Inspected,
  { installed, api }: { readonly installed: Installed; readonly api: 'v1alpha1' | 'v1' },
  options: ExtensionOptions,
): Json[] {
  const { name, namespace } = options;
  const account = `${name}-installer`;
  const forCluster = [...clusterRules(installed, name), ...bindRules(bundle)];
  const forNamespace = [
    ...objectRules(installed.objects.filter(({ namespaced }) => namespaced)),
    ...roleRules(bundle, 'Role'),
  ];
  return [
    namespaceDocument(bundle, namespace),
    ...accountWith(
      { name: account, namespace },
      [...forCluster, ...roleRules(bundle, 'ClusterRole')],
      forNamespace,
    ),
    api === 'v1alpha1' ? previewExtension(account, options) : extensionDocument(options, { name: account }),
  ];
}

/** A service account, with permissions for the cluster and for its namespace. */
function accountWith(
  { name, namespace }: Required<ObjectName>,
  forCluster: readonly PolicyRule[],
  forNamespace: readonly PolicyRule[],
): Json[] {
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const clusterDocuments: Json[] =
    forCluster.length === 0
      ? []
      : [role('ClusterRole', { name }, forCluster), binding('ClusterRole', { name }, subjects)];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    ...clusterDocuments,
    role('Role', { name, namespace }, forNamespace),
    binding('Role', { name, namespace }, subjects),
  ];
}

/** Who may have which packages installed. */
interface Permission {
  /** Further packages; that of the bundle is always among those allowed. */
  readonly packages: readonly string[];
  /** Whom it is about; everybody but cluster administrators when left out. */
  readonly group: string | undefined;
}

/** The documents for an OLM v1 that works as cluster administrator, from operator-controller 1.11 on. */
export function administratorDocuments(
  bundle: Inspected,
  permission: Permission,
  options: ExtensionOptions,
): Json[] {
  return [
    namespaceDocument(bundle, options.namespace),
    ...policyDocuments([options.package, ...permission.packages], permission.group),
    extensionDocument(options),
  ];
}

/**
 * True for who may not do everything. The policy does not hold for cluster administrators, who decide what it says, nor
 * for OLM, which has their permissions.
 */
const NO_ADMINISTRATOR = "!authorizer.group('*').resource('*').check('*').allowed()";

/**
 * The admission policy that restricts which packages a ClusterExtension may name. One for all packages, because each of
 * several policies would have to allow a request. Policies of different groups have different names: applying one must not
 * replace another.
 */
function policyDocuments(packages: readonly string[], group: string | undefined): Json[] {
  const allowed = [...new Set(packages)].sort(compareText);
  const name =
    group === undefined ? 'clusterextension-packages' : objectName(`clusterextension-packages-${group}`);
  const condition =
    group === undefined
      ? { name: 'no-cluster-administrator', expression: NO_ADMINISTRATOR }
      : { name: 'group', expression: `${JSON.stringify(group)} in request.userInfo.groups` };
  return [
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['olm.operatorframework.io'],
              apiVersions: ['v1'],
              resources: ['clusterextensions'],
              operations: ['CREATE', 'UPDATE'],
            },
          ],
        },
        matchConditions: [condition],
        validations: [
          {
            expression: `has(object.spec.source.catalog) && object.spec.source.catalog.packageName in ${JSON.stringify(allowed)}`,
            message: `only these packages are allowed: ${allowed.join(', ')}`,
          },
        ],
      },
    },
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}

/** The ClusterExtension alone, as current OLM v1 accepts it; with an account, as it did before operator-controller 1.11. */
export function extensionDocument(options: ExtensionOptions, account?: { readonly name: string }): Json {
  const { name, namespace, version, channel, watched, deployment, upgrades, crdSafety, catalog } = options;
  const inline = {
    ...(watched === undefined ? {} : { watchNamespace: watched }),
    ...(deployment === undefined ? {} : { deploymentConfig: deployment }),
  };
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterExtension',
    metadata: { name },
    spec: {
      ...(options.managedNamespace ? {} : { namespace }),
      ...(account === undefined ? {} : { serviceAccount: { ...account } }),
      source: {
        sourceType: 'Catalog',
        catalog: {
          packageName: options.package,
          ...(version === undefined ? {} : { version }),
          ...(channel === undefined ? {} : { channels: [channel] }),
          ...(catalog === undefined ? {} : { selector: { matchLabels: { [CATALOG_NAME_LABEL]: catalog } } }),
          ...(upgrades === undefined ? {} : { upgradeConstraintPolicy: upgrades }),
        },
      },
      ...(crdSafety === undefined
        ? {}
        : { install: { preflight: { crdUpgradeSafety: { enforcement: crdSafety } } } }),
      ...(Object.keys(inline).length === 0 ? {} : { config: { configType: 'Inline', inline } }),
    },
  };
}

/**
 * Feature gates of operator-controller without which it refuses a ClusterExtension.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/features/features.go
 */
export function gatesOf({ watched, deployment }: ExtensionOptions): string[] {
  return [
    ...(watched === undefined
      ? []
      : ['SingleOwnNamespaceInstallSupport (on OpenShift: NewOLMOwnSingleNamespace)']),
    ...(deployment === undefined ? [] : ['DeploymentConfig']),
  ];
}

/**
 * The ClusterExtension of OpenShift 4.17.
 *
 * @see "Extensions", OpenShift Container Platform 4.17, 4.2.2 and 5.3
 */
function previewExtension(account: string, options: ExtensionOptions): Json {
  const { name, namespace, version, channel, upgrades, crdSafety } = options;
  return {
    apiVersion: 'olm.operatorframework.io/v1alpha1',
    kind: 'ClusterExtension',
    metadata: { name },
    spec: {
      packageName: options.package,
      installNamespace: namespace,
      serviceAccount: { name: account },
      ...(channel === undefined ? {} : { channel }),
      ...(version === undefined ? {} : { version }),
      ...(upgrades === undefined
        ? {}
        : { upgradeConstraintPolicy: upgrades === 'SelfCertified' ? 'Ignore' : 'Enforce' }),
      ...(crdSafety === undefined
        ? {}
        : { preflight: { crdUpgradeSafety: { disabled: crdSafety === 'None' } } }),
    },
  };
}

/** The namespaces that an operator watches, or why it cannot. */
type Watching =
  | { readonly kind: 'all' }
  | { readonly kind: 'one'; readonly namespace: string }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * The namespaces that an operator watches where it is installed.
 *
 * @param wanted the one to watch; when left out all namespaces, or only the operator's own if it does not support all
 * @see
 * https://github.com/operator-framework/operator-controller/blob/main/docs/draft/howto/single-ownnamespace-install.md
 */
export function watchingOf(
  { csv }: Inspected,
  { namespace, wanted }: { readonly namespace: string; readonly wanted: string | undefined },
): Watching {
  const supported = new Set(
    memberObjects(csv?.spec, 'installModes')
      .filter((mode) => mode['supported'] === true)
      .map((mode) => memberText(mode, 'type')),
  );
  if (wanted !== undefined) {
    const mode = wanted === namespace ? 'OwnNamespace' : 'SingleNamespace';
    return supported.has(mode)
      ? { kind: 'one', namespace: wanted }
      : { kind: 'refused', why: `it does not support ${mode}, so it cannot watch ${wanted} alone` };
  }
  if (supported.has('AllNamespaces')) return { kind: 'all' };
  if (supported.has('OwnNamespace')) return { kind: 'one', namespace };
  if (supported.has('SingleNamespace'))
    return { kind: 'refused', why: 'it only watches one other namespace: set --watch-namespace' };
  const [mode] = supported;
  return {
    kind: 'refused',
    why: mode === undefined ? 'it does not support any install mode' : `it only supports ${mode}`,
  };
}

/** The namespace: the bundle's template if that has this name, or else a bare one. */
function namespaceDocument(bundle: Inspected, name: string): Json {
  const template = namespaceTemplate(bundle);
  return template && nameIn(template) === name
    ? (template as Json)
    : { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** The name of the namespace that a bundle suggests for itself; undefined when it suggests none. */
export function suggestedNamespace(bundle: Inspected): string | undefined {
  const template = namespaceTemplate(bundle);
  const named = template
    ? nameIn(template)
    : bundle.csv?.annotations['operatorframework.io/suggested-namespace'];
  return named === undefined || !isDnsLabel(named) ? undefined : named;
}

function nameIn(object: Fields): string {
  return memberText(memberObject(object, 'metadata'), 'name');
}

/**
 * The template for the namespace that the annotations suggest. A text that is not a Namespace has a finding of its own.
 */
function namespaceTemplate({ csv }: Inspected): Fields | undefined {
  const json = csv?.annotations['operatorframework.io/suggested-namespace-template'];
  if (json === undefined) return undefined;
  const value = tryReadJson(json);
  return isObject(value) && value['kind'] === 'Namespace' && value['apiVersion'] === 'v1' ? value : undefined;
}

/**
 * What the installing account may do in the whole cluster. It updates finalizers, because Kubernetes may demand that of
 * an account whose objects block the deletion of their owner.
 */
function clusterRules({ objects, grants }: Installed, name: string): PolicyRule[] {
  return [
    {
      apiGroups: ['olm.operatorframework.io'],
      resources: ['clusterextensions/finalizers'],
      resourceNames: [name],
      verbs: ['update'],
    },
    ...objectRules(objects.filter(({ namespaced }) => !namespaced)),
    ...uniqueRules(grants),
  ];
}

/** The permissions that an installer needs to create objects, watch them, and keep them as the bundle has them. */
function objectRules(objects: readonly InstalledObject[]): PolicyRule[] {
  const byResource = new Map<string, InstalledObject[]>();
  for (const object of objects) {
    const key = `${object.group}/${object.resource}`;
    appendToGroup(byResource, key, object);
  }
  return [...byResource]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([, sameKind]) => {
      const [{ group, resource } = { group: '', resource: '' }] = sameKind;
      const target = { apiGroups: [group], resources: [resource] };
      return [
        // Kubernetes cannot restrict `create` to names, nor a list or watch of all objects.
        { ...target, verbs: ['create', 'list', 'watch'] },
        {
          ...target,
          resourceNames: sameKind.map(({ name }) => name),
          verbs: ['get', 'update', 'patch', 'delete'],
        },
      ];
    });
}

/** The rules of the bundle's own roles: Kubernetes allows nobody to create a role with more permissions than their own. */
function roleRules({ allObjects }: Inspected, kind: 'Role' | 'ClusterRole'): PolicyRule[] {
  const roles = allObjects.filter((object) => object.kind === kind && object.group === RBAC);
  return uniqueRules(roles.flatMap(({ value }) => memberObjects(value, 'rules').map(writtenRule)));
}

const RULE_FIELDS = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs', 'verbs'];

/** A rule of a role, without its empty fields. */
function writtenRule(rule: Fields): PolicyRule {
  return Object.fromEntries(
    RULE_FIELDS.map((field) => [field, memberTexts(rule, field)] as const).filter(
      ([, values]) => values.length > 0,
    ),
  );
}

/** The permissions to bind roles that others own: whoever creates a binding must be allowed to bind its role. */
function bindRules({ allObjects }: Inspected): PolicyRule[] {
  const isBinding = (kind: string): boolean => kind === 'RoleBinding' || kind === 'ClusterRoleBinding';
  // No name of a role has a slash.
  const own = new Set(allObjects.map(({ kind, name }) => `${kind}/${name}`));
  return uniqueRules(
    allObjects
      .filter(({ kind, group }) => group === RBAC && isBinding(kind))
      .map(({ value }) => memberObject(value, 'roleRef'))
      .filter((ref) => !own.has(`${memberText(ref, 'kind')}/${memberText(ref, 'name')}`))
      .map((ref) => ({
        apiGroups: [RBAC],
        resources: [`${memberText(ref, 'kind').toLowerCase()}s`],
        resourceNames: [memberText(ref, 'name')],
        verbs: ['bind'],
      })),
  );
}

function uniqueRules(rules: readonly PolicyRule[]): PolicyRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}

interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}

function role(kind: 'Role' | 'ClusterRole', metadata: ObjectName, rules: readonly PolicyRule[]): Json {
  return { apiVersion: `${RBAC}/v1`, kind, metadata: { ...metadata }, rules };
}

function binding(kind: 'Role' | 'ClusterRole', metadata: ObjectName, subjects: Json): Json {
  const roleRef = { apiGroup: RBAC, kind, name: metadata.name };
  return { apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata: { ...metadata }, roleRef, subjects };
}

interface SubscriptionOptions extends InstallationOptions {
  /** The CatalogSource and its namespace. */
  readonly catalog: string;
  readonly catalogNamespace: string;
  /** Service account by which OLM installs, with no more permissions than that takes. */
  readonly account?: string;
}

/**
 * The documents for OLM v0. The version is held: the next one waits until somebody approves its install plan.
 *
 * @returns an empty list without a ClusterServiceVersion: then there is nothing to install
 */
export function subscriptionDocuments(bundle: Inspected, options: SubscriptionOptions): Json[] {
  const { csv } = bundle;
  if (!csv) return [];
  const { name, namespace, catalog, catalogNamespace, account, watched, deployment } = options;
  const channel = options.channel ?? defaultChannel(bundle);
  return [
    namespaceDocument(bundle, namespace),
    ...(account === undefined ? [] : scopedAccount(bundle, csv, { name: account, namespace })),
    {
      apiVersion: 'operators.coreos.com/v1',
      kind: 'OperatorGroup',
      metadata: { name, namespace },
      spec: {
        ...(account === undefined ? {} : { serviceAccountName: account }),
        ...(watched === undefined ? {} : { targetNamespaces: [watched] }),
      },
    },
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { name, namespace },
      spec: {
        ...(channel === '' ? {} : { channel }),
        name: options.package,
        source: catalog,
        sourceNamespace: catalogNamespace,
        startingCSV: csv.name,
        installPlanApproval: 'Manual',
        ...(deployment === undefined ? {} : { config: deployment }),
      },
    },
  ];
}

const WRITE = ['get', 'create', 'update', 'patch'];

/**
 * What OLM v0 does by the service account of an OperatorGroup.
 *
 * @see "Operators", OpenShift Container Platform 4.5, 3.6.2.1
 */
const SCOPED: readonly PolicyRule[] = [
  {
    apiGroups: ['operators.coreos.com'],
    resources: ['subscriptions', 'clusterserviceversions'],
    verbs: WRITE,
  },
  { apiGroups: [''], resources: ['services', 'serviceaccounts'], verbs: WRITE },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'update', 'patch'] },
  { apiGroups: [RBAC], resources: ['roles', 'rolebindings'], verbs: WRITE },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list', 'watch', ...WRITE, 'delete'] },
];

/**
 * The account of an installer with only the permissions for this bundle. It has the operator's permissions too, because
 * nobody can grant more than their own.
 */
function scopedAccount(bundle: Inspected, { spec }: TypedCsv, account: Required<ObjectName>): Json[] {
  const rulesIn = (section: string): PolicyRule[] =>
    memberObjects(spec, 'install', 'spec', section).flatMap((each) =>
      memberObjects(each, 'rules').map(writtenRule),
    );
  const clusterPermissions = [...rulesIn('clusterPermissions'), ...roleRules(bundle, 'ClusterRole')];
  const forCluster =
    clusterPermissions.length === 0
      ? []
      : [
          { apiGroups: [RBAC], resources: ['clusterroles', 'clusterrolebindings'], verbs: WRITE },
          ...clusterPermissions,
        ];
  const forNamespace = [
    ...SCOPED,
    ...rulesIn('permissions'),
    ...roleRules(bundle, 'Role'),
    ...bindRules(bundle),
  ];
  return accountWith(account, uniqueRules(forCluster), uniqueRules(forNamespace));
}

/** The channel that the annotations name as the default; the bundle's first one if it is not in that channel. */
function defaultChannel({ annotations, channels }: Inspected): string {
  const annotated = annotations ? memberText(annotations.values, `${PREFIX}channel.default.v1`) : '';
  return channels.includes(annotated) ? annotated : (channels[0] ?? '');
}
