/**
 * What library-olm asks before it hands an operator over from OLM v0 to OLM v1, asked of the objects of a cluster. Its names
 * of the checks and its words are kept, so that a search for them finds its documentation.
 *
 * @see https://github.com/operator-framework/library-olm/tree/11060c9ad73cc9c6913a8b42beb470193139511e/specs/20260821-migration-v0-to-v1
 * @see https://github.com/operator-framework/library-olm/tree/4bfca30fc5090524ab391034fc64dcaed30b7dab/migration/pkg/migration
 */
import { appendToGroup, groupedBy } from '../../../catalog/go/grouped.ts';
import { onceFor } from '../../../catalog/go/once.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { type ClusterObject, textAt, valueAt } from '../../check/cluster.ts';
import { type ClusterView, type Kind, objectSetsOf, placeOfObject } from './cluster-view.ts';

/** The version whose checks are run. */
export const LIBRARY_OLM = { commit: '11060c9a', date: 'October 2026' };

/** One check of one operator, or of the cluster. */
export interface CheckRow {
  /** Its number among library-olm's requirements; empty for a check without one. */
  readonly check: string;
  readonly name: string;
  /** `unread` where the objects lack what the check reads. */
  readonly result: 'pass' | 'refused' | 'warning' | 'unread';
  readonly reason: string;
  /** library-olm's option that overrides a refusal. */
  readonly override?: string;
}

/** A Subscription, and what a check looks for around it. */
interface SubscriptionFacts {
  readonly view: ClusterView;
  readonly subscription: ClusterObject;
  readonly namespace: string;
  /** The installed one; undefined where the cluster's objects do not have it. */
  readonly csv: ClusterObject | undefined;
}

interface Verdict {
  /** Why library-olm refuses the operator; none where it does not. */
  readonly refusals: readonly string[];
  /** What it says otherwise. */
  readonly pass: string;
  /** Instead of `pass` where something is only reported. */
  readonly warning?: string;
}

/** A check as the table of {@link CHECKS} has it; `check`, `name` and `override` are those of its {@link CheckRow}. */
interface Check {
  readonly check: string;
  readonly name: string;
  /** The kinds that it reads besides the Subscription. */
  readonly reads: readonly Kind[];
  readonly override?: string;
  readonly verdict: (about: SubscriptionFacts) => Verdict;
}

const SCOPE = '--acknowledge-watch-scope-change';
const STEADY = '--acknowledge-not-steady-state';
const CSV: readonly Kind[] = ['ClusterServiceVersion'];
const GROUP: readonly Kind[] = ['OperatorGroup'];

const CHECKS: readonly Check[] = [
  { check: 'C1', name: 'OperatorGroup exists', reads: GROUP, verdict: groupVerdict },
  { check: 'C1', name: 'No namespace selector', reads: GROUP, override: SCOPE, verdict: selectorVerdict },
  { check: 'C1', name: 'AllNamespaces mode', reads: GROUP, override: SCOPE, verdict: targetVerdict },
  { check: 'C1', name: 'Namespace scope change', reads: GROUP, override: SCOPE, verdict: scopeVerdict },
  { check: 'C1a', name: 'AllNamespaces bundle support', reads: CSV, verdict: modeVerdict },
  { check: 'C2', name: 'No dependency resolution', reads: CSV, verdict: dependencyVerdict },
  { check: 'C3', name: 'No APIService definitions', reads: CSV, verdict: serviceVerdict },
  {
    check: 'C4',
    name: 'No OperatorCondition usage',
    reads: ['OperatorCondition'],
    override: '--acknowledge-operator-condition',
    verdict: conditionVerdict,
  },
  {
    check: 'C5',
    name: 'OLMv0-API RBAC',
    reads: CSV,
    override: '--acknowledge-olmv0-api-access',
    verdict: accessVerdict,
  },
  {
    check: 'C6',
    name: 'No scoped ServiceAccount',
    reads: GROUP,
    override: '--acknowledge-scoped-serviceaccount',
    verdict: accountVerdict,
  },
  { check: '', name: 'Package uniqueness', reads: [], verdict: uniqueVerdict },
  { check: '', name: 'Installed CSV', reads: [], verdict: installedVerdict },
  { check: 'C8', name: 'Subscription state', reads: [], override: STEADY, verdict: stateVerdict },
  { check: 'C8', name: 'CSV health', reads: CSV, override: STEADY, verdict: healthVerdict },
  { check: 'C9', name: 'Not a dependency', reads: [], verdict: generatedVerdict },
  { check: 'C10', name: 'Image-backed CatalogSources', reads: ['CatalogSource'], verdict: sourceVerdict },
  { check: 'R6', name: 'Upgrade strategy', reads: GROUP, verdict: strategyVerdict },
  { check: 'R9', name: 'Dependents', reads: CSV, verdict: dependentVerdict },
];

/** All checks of one Subscription but that of the catalogs, which are not on the cluster. */
export function checksOf(view: ClusterView, subscription: ClusterObject): CheckRow[] {
  const { namespace } = placeOfObject(subscription);
  const csv = view.one('ClusterServiceVersion', namespace, textAt(subscription, 'status', 'installedCSV'));
  const about = { view, subscription, namespace, csv };
  return [conflictRow(about), ...CHECKS.map((check) => rowOf(check, about)), planRow(about)];
}

/**
 * The result of one check; `unread` if nobody knows the cluster's objects of a kind that it needs, or there is no such
 * object, except for checks that refuse for that.
 */
function rowOf({ check, name, reads, override, verdict }: Check, about: SubscriptionFacts): CheckRow {
  const missing = reads.filter((kind) => !about.view.knows(kind));
  if (missing.length > 0) return { check, name, ...unreadResult(missing, about) };
  const absent = absentOf(reads, about);
  if (absent !== undefined && !REPORTS_ABSENT.has(name))
    return { check, name, result: 'unread', reason: absent };
  const { refusals, pass, warning } = verdict(about);
  if (refusals.length > 0) {
    const flag = override === undefined ? {} : { override };
    return { check, name, result: 'refused', reason: refusals.join('; '), ...flag };
  }
  return warning === undefined
    ? { check, name, result: 'pass', reason: pass }
    : { check, name, result: 'warning', reason: warning };
}

/** The checks that refuse an operator for what is not there; the others then have nothing to read. */
const REPORTS_ABSENT: ReadonlySet<string> = new Set(['OperatorGroup exists', 'CSV health', 'Dependents']);

/** Which object a check needs that the cluster does not have; undefined if all are there. Other kinds may be absent. */
function absentOf(reads: readonly Kind[], about: SubscriptionFacts): string | undefined {
  if (reads === GROUP && !groupOf(about)) return 'there is no OperatorGroup';
  return reads === CSV && !about.csv ? 'there is no ClusterServiceVersion' : undefined;
}

/** The result of a check that needs kinds of objects which nobody listed. */
function unreadResult(
  kinds: readonly Kind[],
  { view }: Pick<SubscriptionFacts, 'view'>,
): Pick<CheckRow, 'result' | 'reason'> {
  return { result: 'unread', reason: `${view.name} has no ${kinds.join(', ')}` };
}

/** What library-olm needs of the cluster itself. */
export function clusterChecks(view: ClusterView): CheckRow[] {
  const about = { check: '', name: 'ClusterObjectSet API' };
  if (!view.knows('CustomResourceDefinition'))
    return [{ ...about, ...unreadResult(['CustomResourceDefinition'], { view }) }];
  const { established, reason } = objectSetsOf(view);
  return [{ ...about, result: established ? 'pass' : 'refused', reason }];
}

/** Where a ClusterExtension says which Subscription it was made of. */
const MIGRATED_FROM = 'olm.operatorframework.io/migrated-from-subscription';

/** ClusterExtensions that library-olm made, with the `namespace/name` of their Subscriptions. */
export function migratedExtensions(view: ClusterView): ReadonlyMap<string, string> {
  return new Map(
    view.all('ClusterExtension').flatMap((extension) => {
      const from = annotationOf(extension, MIGRATED_FROM);
      return from === undefined ? [] : [[from, placeOfObject(extension).name] as const];
    }),
  );
}

/** The check for a ClusterExtension that already stands for the Subscription, or has its name. */
function conflictRow({ view, subscription }: SubscriptionFacts): CheckRow {
  const about = { check: 'R1.3', name: 'Conflict' };
  const { namespace, name } = placeOfObject(subscription);
  // A list of ClusterCatalogs would do as well: see `ClusterView.knows`.
  if (!view.knows('ClusterExtension'))
    return { ...about, ...unreadResult(['ClusterCatalog', 'ClusterExtension'], { view }) };
  if (migratedExtensions(view).has(`${namespace}/${name}`)) {
    const reason = 'both Subscription and annotated ClusterExtension exist; resolve with cleanup or rollback';
    return { ...about, result: 'refused', reason };
  }
  return view.one('ClusterExtension', '', name)
    ? { ...about, result: 'refused', reason: `ClusterExtension ${name} already exists` }
    : { ...about, result: 'pass', reason: 'no ClusterExtension of this name' };
}

/** The annotation of an object; undefined for none, and for what is not a text. */
function annotationOf(object: ClusterObject | undefined, name: string): string | undefined {
  const annotations = valueAt(object, 'metadata', 'annotations');
  const value = isObject(annotations) ? annotations[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The list at a path; empty for what is not a list. */
function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/**
 * The verdict of a check with one condition: it refuses the migration with the first text, or passes with the second.
 */
function refusedIf(condition: boolean, refusal: string, pass: string): Verdict {
  return { refusals: condition ? [refusal] : [], pass };
}

/** By the view's list of a namespace's groups, which is the same object each time. */
const groups = new WeakMap<readonly ClusterObject[], ClusterObject>();

/** The one that library-olm looks at: the API lists them by name. Looked for once in each namespace. */
function groupOf({ view, namespace }: SubscriptionFacts): ClusterObject | undefined {
  const all = view.all('OperatorGroup', namespace);
  const known = groups.get(all);
  if (known) return known;
  const first = [...all].sort((a, b) => compareText(placeOfObject(a).name, placeOfObject(b).name))[0];
  if (first) groups.set(all, first);
  return first;
}

/** The scope of an operator is in its OperatorGroup, so there must be one. */
function groupVerdict(about: SubscriptionFacts): Verdict {
  const group = groupOf(about);
  return refusedIf(
    !group,
    `no OperatorGroup found in namespace ${about.namespace}`,
    group ? placeOfObject(group).name : '',
  );
}

/** A group that selects namespaces by labels: OLM v1 lets the operator watch all of them. */
function selectorVerdict(about: SubscriptionFacts): Verdict {
  const selector = valueAt(groupOf(about), 'spec', 'selector');
  const labels = valueAt(selector, 'matchLabels');
  const selects =
    (isObject(labels) && Object.keys(labels).length > 0) || listAt(selector, 'matchExpressions').length > 0;
  return refusedIf(
    selects,
    'OperatorGroup has spec.selector set; OLMv1 uses AllNamespaces',
    'OperatorGroup does not use a namespace selector',
  );
}

/** A group that lists namespaces: OLM v1 lets the operator watch all of them. */
function targetVerdict(about: SubscriptionFacts): Verdict {
  return refusedIf(
    listAt(groupOf(about), 'spec', 'targetNamespaces').length > 0,
    'OperatorGroup has spec.targetNamespaces set; operator must be in AllNamespaces mode for migration',
    'operator is in AllNamespaces mode',
  );
}

/** An operator that watches one namespace today: under OLM v1 it watches all of them. */
function scopeVerdict(about: SubscriptionFacts): Verdict {
  const [only, ...more] = listAt(groupOf(about), 'status', 'namespaces');
  return refusedIf(
    more.length === 0 && typeof only === 'string' && only !== '',
    `OperatorGroup targets namespace ${JSON.stringify(only)}; post-migration the operator will run in AllNamespaces mode`,
    'OperatorGroup does not target a single namespace',
  );
}

/** library-olm installs an operator for all namespaces, which the operator must support. */
function modeVerdict({ csv }: SubscriptionFacts): Verdict {
  const supports = listAt(csv, 'spec', 'installModes').some(
    (mode) => textAt(mode, 'type') === 'AllNamespaces' && valueAt(mode, 'supported') === true,
  );
  return refusedIf(
    !supports,
    'installed CSV does not declare AllNamespaces with supported: true in spec.installModes',
    'CSV supports AllNamespaces',
  );
}

interface Property {
  readonly type: string;
  readonly value: unknown;
}

/** Where OLM v0 notes the properties of a bundle: a list, or an object with it; undefined for what is not such. */
function propertiesOf(csv: ClusterObject | undefined): readonly Property[] | undefined {
  const text = annotationOf(csv, 'operatorframework.io/properties') ?? '';
  if (text === '') return [];
  const read = parsedJson(text);
  const list = isObject(read) ? (read['properties'] ?? []) : read;
  if (!Array.isArray(list) || !list.every(isObject)) return undefined;
  return list.map((item) => ({ type: textAt(item, 'type'), value: item['value'] }));
}

/** OLM v1 resolves no dependencies, so the bundle must not declare any. */
function dependencyVerdict({ csv }: SubscriptionFacts): Verdict {
  const properties = propertiesOf(csv);
  const pass = 'no olm.package.required or olm.gvk.required properties';
  if (!properties) return { refusals: ['failed to parse bundle properties'], pass };
  const required = properties.filter(
    ({ type }) => type === 'olm.package.required' || type === 'olm.gvk.required',
  );
  const refusals = required.map(
    ({ type, value }) => `bundle declares ${type} dependency: ${JSON.stringify(value)}`,
  );
  return { refusals, pass: properties.length === 0 ? 'no bundle properties declared' : pass };
}

/** The version of an installed bundle, as library-olm looks for it in catalogs. */
export function csvVersion(csv: ClusterObject | undefined): string {
  const own = propertiesOf(csv)?.find(({ type }) => type === 'olm.package');
  return textAt(own?.value, 'version') || textAt(csv, 'spec', 'version');
}

/** OLM v1 does not fully support operators that serve an APIService. */
function serviceVerdict({ csv }: SubscriptionFacts): Verdict {
  return refusedIf(
    listAt(csv, 'spec', 'apiservicedefinitions', 'owned').length > 0,
    'CSV has spec.apiservicedefinitions.owned set; OLMv1 does not yet fully support APIService-based operators',
    'CSV does not define owned APIServices',
  );
}

/** OLM v1 has no OperatorConditions: an operator that reports by one must not be migrated unseen. */
function conditionVerdict({ view, namespace, subscription }: SubscriptionFacts): Verdict {
  const condition = view.one('OperatorCondition', namespace, textAt(subscription, 'status', 'installedCSV'));
  return refusedIf(
    listAt(condition, 'status', 'conditions').length > 0,
    'OperatorCondition has status.conditions entries; operator actively uses the OperatorCondition API',
    condition ? 'OperatorCondition exists but has no status entries' : 'no OperatorCondition resource found',
  );
}

/** OLM v0's resources that an operator only asks for if it works with them; every operator may see its OperatorCondition. */
const RESOURCES: ReadonlySet<unknown> = new Set([
  '*',
  'subscriptions',
  'installplans',
  'clusterserviceversions',
  'catalogsources',
]);

/** The check for an operator that uses the API of OLM v0, but not that of OLM v1. */
function accessVerdict({ csv }: SubscriptionFacts): Verdict {
  const rules = listAt(csv, 'spec', 'install', 'spec', 'clusterPermissions').flatMap((one) =>
    listAt(one, 'rules'),
  );
  const grants = (group: string): readonly unknown[] =>
    rules.filter((rule) => listAt(rule, 'apiGroups').includes(group));
  const usesV0 = grants('operators.coreos.com').some((rule) =>
    listAt(rule, 'resources').some((resource) => RESOURCES.has(resource)),
  );
  return refusedIf(
    usesV0 && grants('olm.operatorframework.io').length === 0,
    'CSV clusterPermissions grant operators.coreos.com access without OLMv1 equivalent',
    usesV0
      ? 'CSV clusterPermissions grant both OLMv0 and OLMv1 API access (updated for compatibility)'
      : 'CSV clusterPermissions do not grant OLMv0 API access',
  );
}

/** OLM v1 does not install with the service account of an OperatorGroup. */
function accountVerdict(about: SubscriptionFacts): Verdict {
  return refusedIf(
    textAt(groupOf(about), 'spec', 'serviceAccountName') !== '',
    'OperatorGroup has spec.serviceAccountName set; OLMv1 does not support scoped service accounts',
    'OperatorGroup does not use a scoped service account',
  );
}

/** Most Subscriptions of one package that a refusal names. */
const MOST_OTHERS = 20;

/** The Subscriptions of a cluster by their packages. */
const subscriptionsOf = onceFor(
  (view: ClusterView): ReadonlyMap<string, readonly ClusterObject[]> =>
    groupedBy(view.all('Subscription'), (one) => textAt(one, 'spec', 'name')),
);

/** The check for other Subscriptions to the same package. */
function uniqueVerdict({ view, subscription }: SubscriptionFacts): Verdict {
  const packageName = textAt(subscription, 'spec', 'name');
  const others = (subscriptionsOf(view).get(packageName) ?? []).filter((one) => one !== subscription);
  const quoted = JSON.stringify(packageName);
  const refusals = others.slice(0, MOST_OTHERS).map((other) => {
    const { namespace, name } = placeOfObject(other);
    return `another Subscription ${namespace}/${name} references the same package ${quoted}`;
  });
  const more = others.length - refusals.length;
  return {
    refusals: more > 0 ? [...refusals, `and ${more} other Subscriptions do`] : refusals,
    pass: `no other Subscription references package ${quoted}`,
  };
}

/** Without an installed ClusterServiceVersion there is nothing to migrate. */
function installedVerdict({ subscription }: SubscriptionFacts): Verdict {
  const installed = textAt(subscription, 'status', 'installedCSV');
  return refusedIf(installed === '', 'no installedCSV set', installed);
}

/** An operator is migrated only while OLM v0 installs nothing for its Subscription. */
function stateVerdict({ subscription }: SubscriptionFacts): Verdict {
  const state = textAt(subscription, 'status', 'state');
  return refusedIf(
    state !== 'AtLatestKnown' && state !== 'UpgradePending',
    `must be "AtLatestKnown" or "UpgradePending", got ${JSON.stringify(state)}`,
    `state is ${JSON.stringify(state)}`,
  );
}

/** An operator is migrated only while it runs as OLM v0 installed it. */
function healthVerdict({ csv, subscription }: SubscriptionFacts): Verdict {
  const installed = textAt(subscription, 'status', 'installedCSV');
  if (!csv) return { refusals: [`failed to get CSV ${installed}`], pass: '' };
  const [phase, reason] = [textAt(csv, 'status', 'phase'), textAt(csv, 'status', 'reason')];
  const pass = `phase: ${phase}, reason: ${reason}`;
  if (phase !== 'Succeeded')
    return { refusals: [`phase is ${JSON.stringify(phase)}, expected "Succeeded"`], pass };
  const refusal = `reason is ${JSON.stringify(reason)}, expected "InstallSucceeded"`;
  return refusedIf(reason !== 'InstallSucceeded', refusal, pass);
}

/** OLM v0 made the Subscription because another operator requires this one: neither moves without the other. */
function generatedVerdict({ subscription }: SubscriptionFacts): Verdict {
  return refusedIf(
    annotationOf(subscription, 'olm.generated-by') !== undefined,
    'olm.generated-by annotation present — operator is an OLMv0-managed dependency of another operator; do not migrate individually',
    'no olm.generated-by annotation',
  );
}

/** The CatalogSource that the Subscription names, and the one that its bundle came from. */
function sourceVerdict(about: SubscriptionFacts): Verdict {
  const { subscription } = about;
  const named = [
    textAt(subscription, 'spec', 'sourceNamespace'),
    textAt(subscription, 'spec', 'source'),
  ] as const;
  const installed = textAt(subscription, 'status', 'installedCSV');
  const lookup = listAt(planOf(about).plan, 'status', 'bundleLookups').find(
    (one) => textAt(one, 'identifier') === installed,
  );
  const ref = valueAt(lookup, 'catalogSourceRef');
  const effective = isObject(ref) ? [[textAt(ref, 'namespace'), textAt(ref, 'name')] as const] : [];
  const refusals = [named, ...effective].flatMap(([namespace, name]) =>
    sourceRefusal(about.view, namespace, name),
  );
  return {
    refusals: [...new Set(refusals)],
    pass: `CatalogSource ${named.join('/')} is grpc and has spec.image`,
  };
}

/** Why OLM v1 cannot have a CatalogSource: it reads catalogs from images only. None if it can. */
function sourceRefusal(view: ClusterView, namespace: string, name: string): string[] {
  const source = view.one('CatalogSource', namespace, name);
  const called = `CatalogSource ${namespace}/${name}`;
  if (!source) return [`${called} is missing`];
  const type = textAt(source, 'spec', 'sourceType');
  if (type !== 'grpc') return [`${called} is not grpc: sourceType is ${JSON.stringify(type)}`];
  return textAt(source, 'spec', 'image') === '' ? [`${called} has no spec.image`] : [];
}

/** The InstallPlan that the Subscription refers to: library-olm stops where it does not exist. */
function planOf({ view, subscription, namespace }: SubscriptionFacts): {
  readonly name: string;
  readonly plan: ClusterObject | undefined;
} {
  // The older of the two fields has no namespace: it means the Subscription's.
  const ref =
    valueAt(subscription, 'status', 'installPlanRef') ?? valueAt(subscription, 'status', 'installplan');
  const name = textAt(ref, 'name');
  return { name, plan: view.one('InstallPlan', textAt(ref, 'namespace') || namespace, name) };
}

/** The check for the InstallPlan that the Subscription refers to. */
function planRow(about: SubscriptionFacts): CheckRow {
  const { name, plan } = planOf(about);
  const row = { check: 'R4', name: 'InstallPlan' };
  if (name === '') return { ...row, result: 'pass', reason: 'the Subscription refers to no InstallPlan' };
  if (plan) return { ...row, result: 'pass', reason: name };
  if (!about.view.knows('InstallPlan')) return { ...row, ...unreadResult(['InstallPlan'], about) };
  return { ...row, result: 'refused', reason: `failed to get InstallPlan ${name}` };
}

/** OLM v1 has no upgrade strategies. This is only a warning. */
function strategyVerdict(about: SubscriptionFacts): Verdict {
  const strategy = textAt(groupOf(about), 'spec', 'upgradeStrategy');
  const pass = 'upgrade strategy is Default or unset';
  if (strategy === '' || strategy === 'Default') return { refusals: [], pass };
  const warning = `OperatorGroup upgradeStrategy ${JSON.stringify(strategy)} is not mapped to OLMv1 and will be ignored post-migration`;
  return { refusals: [], pass, warning };
}

/** The Subscriptions of a cluster by the packages that their installed bundles require. */
const requirersOf = onceFor((view: ClusterView): ReadonlyMap<string, readonly ClusterObject[]> => {
  const found = new Map<string, ClusterObject[]>();
  for (const subscription of view.all('Subscription')) {
    const installed = textAt(subscription, 'status', 'installedCSV');
    if (installed === '') continue;
    const csv = view.one('ClusterServiceVersion', placeOfObject(subscription).namespace, installed);
    const required = (propertiesOf(csv) ?? []).flatMap(({ type, value }) =>
      type === 'olm.package.required' ? [textAt(value, 'packageName')] : [],
    );
    for (const name of new Set(required)) appendToGroup(found, name, subscription);
  }
  return found;
});

/** `namespace/name` of the other Subscriptions whose installed bundles require a package. */
export function dependentsOf(view: ClusterView, packageName: string): string[] {
  const all = requirersOf(view).get(packageName) ?? [];
  return all
    .filter((other) => textAt(other, 'spec', 'name') !== packageName)
    .map((other) => `${placeOfObject(other).namespace}/${placeOfObject(other).name}`);
}

/** Operators that require this one, which OLM v1 does not know. This is only a warning. */
function dependentVerdict({ view, subscription }: SubscriptionFacts): Verdict {
  const packageName = textAt(subscription, 'spec', 'name');
  const dependents = dependentsOf(view, packageName);
  const pass = 'no other operator declares a dependency on this package';
  if (dependents.length === 0) return { refusals: [], pass };
  const names = dependents.join(' ');
  const warning = `other operator(s) may depend on package ${JSON.stringify(packageName)}: [${names}] — verify they remain functional after migration`;
  return { refusals: [], pass, warning };
}
