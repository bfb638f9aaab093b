/**
 * What an administrator writes to install a bundle: for OLM v1 the ClusterExtension and an installer with
 * exactly the permissions that it needs, for OLM v0 the OperatorGroup and the Subscription.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/docs/howto/derive-service-account.md
 */

import { tryReadJson } from '../go/json.ts';
import { isObject } from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { isDnsLabel } from '../names.ts';
import type { Json } from '../yaml/scalar.ts';
import { type Fields, type Inspected, list, member, PREFIX, text, texts } from './inspect.ts';
import type { Installed, InstalledObject, PolicyRule } from './install.ts';

export interface ExtensionOptions {
  /** Name of the ClusterExtension or the Subscription. */
  readonly name: string;
  readonly namespace: string;
  readonly package: string;
  /** A version or a range; any version when left out. */
  readonly version?: string;
  readonly channel?: string;
}

const RBAC = 'rbac.authorization.k8s.io';

/** The documents for OLM v1, in the order in which they are applied. */
export function extensionDocuments(
  bundle: Inspected,
  installed: Installed,
  options: ExtensionOptions,
): Json[] {
  const { name, namespace, version, channel } = options;
  const account = `${name}-installer`;
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }];
  const forCluster = [...clusterRules(installed, name), ...bindRules(bundle)];
  const forNamespace = [
    ...objectRules(installed.objects.filter(({ namespaced }) => namespaced)),
    ...roleRules(bundle, 'Role'),
  ];
  return [
    namespaceDocument(bundle, namespace),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
    role('ClusterRole', { name: account }, [...forCluster, ...roleRules(bundle, 'ClusterRole')]),
    binding('ClusterRole', { name: account }, subjects),
    role('Role', { name: account, namespace }, forNamespace),
    binding('Role', { name: account, namespace }, subjects),
    {
      apiVersion: 'olm.operatorframework.io/v1',
      kind: 'ClusterExtension',
      metadata: { name },
      spec: {
        namespace,
        serviceAccount: { name: account },
        source: {
          sourceType: 'Catalog',
          catalog: {
            packageName: options.package,
            ...(version === undefined ? {} : { version }),
            ...(channel === undefined ? {} : { channels: [channel] }),
          },
        },
      },
    },
  ];
}

/** The namespace, as the bundle suggests it where it suggests this one. */
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
  return text(member(object, 'metadata'), 'name');
}

/** What is not a Namespace has a finding of its own. */
function namespaceTemplate({ csv }: Inspected): Fields | undefined {
  const json = csv?.annotations['operatorframework.io/suggested-namespace-template'];
  if (json === undefined) return undefined;
  const value = tryReadJson(json);
  return isObject(value) && value['kind'] === 'Namespace' && value['apiVersion'] === 'v1' ? value : undefined;
}

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

/** What must be allowed to make objects, to see them, and to keep them as they should be. */
function objectRules(objects: readonly InstalledObject[]): PolicyRule[] {
  const names = new Map<string, InstalledObject[]>();
  for (const object of objects) {
    const key = `${object.group}/${object.resource}`;
    names.set(key, [...(names.get(key) ?? []), object]);
  }
  return [...names]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([, of]) => {
      const [{ group, resource } = { group: '', resource: '' }] = of;
      const one = { apiGroups: [group], resources: [resource] };
      return [
        { ...one, verbs: ['create', 'list', 'watch'] },
        { ...one, resourceNames: of.map(({ name }) => name), verbs: ['get', 'update', 'patch', 'delete'] },
      ];
    });
}

/** The rules of the bundle's own roles: Kubernetes allows nobody to create a role with more permissions than their own. */
function roleRules({ allObjects }: Inspected, kind: 'Role' | 'ClusterRole'): PolicyRule[] {
  const roles = allObjects.filter((object) => object.kind === kind && object.group === RBAC);
  return uniqueRules(roles.flatMap(({ value }) => list(value, 'rules').map(writtenRule)));
}

const RULE_FIELDS = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs', 'verbs'];

function writtenRule(rule: Fields): PolicyRule {
  return Object.fromEntries(
    RULE_FIELDS.map((field) => [field, texts(rule, field)] as const).filter(
      ([, values]) => values.length > 0,
    ),
  );
}

/** Roles of others that the bundle's bindings give to somebody: who binds them must be allowed to. */
function bindRules({ allObjects }: Inspected): PolicyRule[] {
  const isBinding = (kind: string): boolean => kind === 'RoleBinding' || kind === 'ClusterRoleBinding';
  const own = new Set(allObjects.map(({ kind, name }) => `${kind}/${name}`));
  return uniqueRules(
    allObjects
      .filter(({ kind, group }) => group === RBAC && isBinding(kind))
      .map(({ value }) => member(value, 'roleRef'))
      .filter((ref) => !own.has(`${text(ref, 'kind')}/${text(ref, 'name')}`))
      .map((ref) => ({
        apiGroups: [RBAC],
        resources: [`${text(ref, 'kind').toLowerCase()}s`],
        resourceNames: [text(ref, 'name')],
        verbs: ['bind'],
      })),
  );
}

function uniqueRules(rules: readonly PolicyRule[]): PolicyRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}

interface Named {
  readonly name: string;
  readonly namespace?: string;
}

function role(kind: 'Role' | 'ClusterRole', metadata: Named, rules: readonly PolicyRule[]): Json {
  return { apiVersion: `${RBAC}/v1`, kind, metadata: { ...metadata }, rules } as unknown as Json;
}

function binding(kind: 'Role' | 'ClusterRole', metadata: Named, subjects: Json): Json {
  const roleRef = { apiGroup: RBAC, kind, name: metadata.name };
  return { apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata: { ...metadata }, roleRef, subjects };
}

export interface SubscriptionOptions extends ExtensionOptions {
  /** The CatalogSource and its namespace. */
  readonly catalog: string;
  readonly catalogNamespace: string;
}

/** The documents for OLM v0; undefined when the bundle supports no install mode. */
export function subscriptionDocuments(bundle: Inspected, options: SubscriptionOptions): Json[] | undefined {
  const { csv } = bundle;
  const modes = list(csv?.spec, 'installModes')
    .filter((mode) => mode['supported'] === true)
    .map((mode) => text(mode, 'type'));
  const targets = modes.includes('AllNamespaces') ? [] : [options.namespace];
  if (!csv || modes.length === 0) return undefined;
  const { name, namespace, catalog, catalogNamespace } = options;
  const channel = options.channel ?? defaultChannel(bundle);
  return [
    namespaceDocument(bundle, namespace),
    {
      apiVersion: 'operators.coreos.com/v1',
      kind: 'OperatorGroup',
      metadata: { name, namespace },
      spec: targets.length > 0 ? { targetNamespaces: targets } : {},
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
      },
    },
  ];
}

function defaultChannel({ annotations, channels }: Inspected): string {
  const byDefault = annotations ? text(annotations.values, `${PREFIX}channel.default.v1`) : '';
  return channels.includes(byDefault) ? byDefault : (channels[0] ?? '');
}
