/**
 * What library-olm refuses when it hands an operator over from OLM v0 to OLM v1, asked of the objects of a cluster before
 * anybody runs it. Its words are kept, so that a search for them finds its documentation.
 *
 * @see https://github.com/operator-framework/library-olm/tree/4bfca30fc5090524ab391034fc64dcaed30b7dab/migration/pkg/migration
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { type ClusterObject, member, textAt } from '../../check/cluster.ts';

/** What the objects say of one Subscription. */
export interface Handover {
  /** Why library-olm refuses it, in its words. */
  readonly refusals: readonly string[];
  /** Kinds that the list has no object of, so that it cannot be told. */
  readonly unread: readonly string[];
}

interface About {
  readonly subscription: ClusterObject;
  readonly csv: ClusterObject | undefined;
  readonly objects: readonly ClusterObject[];
}

/** A check, and the kind that it reads besides the Subscription. */
interface Check {
  readonly reads?: string;
  refusals(about: About): readonly (string | undefined)[];
}

const CHECKS: readonly Check[] = [
  { refusals: ({ subscription }) => [stateRefusal(subscription), generatedRefusal(subscription)] },
  { reads: 'ClusterServiceVersion', refusals: ({ csv }) => [healthRefusal(csv), accessRefusal(csv)] },
  { reads: 'OperatorGroup', refusals: groupRefusals },
  { reads: 'OperatorCondition', refusals: conditionRefusals },
  { reads: 'CatalogSource', refusals: sourceRefusals },
];

/**
 * @param namespace of the Subscription
 * @param name of the Subscription
 */
export function handoverOf(objects: readonly ClusterObject[], namespace: string, name: string): Handover {
  const kinds = new Set(objects.map(({ kind }) => kind));
  const [subscription] = named(objects, 'Subscription', { namespace, name });
  if (!subscription) return { refusals: [], unread: ['Subscription'] };
  const installed = textAt(subscription, 'status', 'installedCSV');
  const [csv] = named(objects, 'ClusterServiceVersion', { namespace, name: installed });
  const about = { subscription, csv, objects };
  const isReadable = ({ reads }: Check): boolean => reads === undefined || kinds.has(reads);
  const refusals = CHECKS.filter(isReadable).flatMap((check) => check.refusals(about));
  const unread = CHECKS.filter((check) => !isReadable(check)).flatMap(({ reads }) => reads ?? []);
  return { refusals: refusals.filter((one) => one !== undefined), unread: unread.sort(compareText) };
}

function named(
  objects: readonly ClusterObject[],
  kind: string,
  { namespace, name }: { readonly namespace: string; readonly name?: string },
): ClusterObject[] {
  return objects.filter(
    (object) =>
      object['kind'] === kind &&
      textAt(object, 'metadata', 'namespace') === namespace &&
      (name === undefined || textAt(object, 'metadata', 'name') === name),
  );
}

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = member(value, ...path);
  return Array.isArray(found) ? found : [];
}

function stateRefusal(subscription: ClusterObject): string | undefined {
  const state = textAt(subscription, 'status', 'state');
  return state === 'AtLatestKnown' || state === 'UpgradePending'
    ? undefined
    : `the Subscription's state must be "AtLatestKnown" or "UpgradePending", got ${JSON.stringify(state)}`;
}

function generatedRefusal(subscription: ClusterObject): string | undefined {
  const annotations = member(subscription, 'metadata', 'annotations');
  return isObject(annotations) && 'olm.generated-by' in annotations
    ? 'olm.generated-by annotation present: operator is an OLMv0-managed dependency of another operator; do not migrate individually'
    : undefined;
}

function healthRefusal(csv: ClusterObject | undefined): string | undefined {
  if (!csv) return 'the installed ClusterServiceVersion does not exist';
  const [phase, reason] = [textAt(csv, 'status', 'phase'), textAt(csv, 'status', 'reason')];
  if (phase !== 'Succeeded') return `phase is ${JSON.stringify(phase)}, expected "Succeeded"`;
  return reason === 'InstallSucceeded'
    ? undefined
    : `reason is ${JSON.stringify(reason)}, expected "InstallSucceeded"`;
}

/** OLM v0's resources that an operator only asks for if it works with them; every operator may see its OperatorCondition. */
const RESOURCES: ReadonlySet<unknown> = new Set([
  '*',
  'subscriptions',
  'installplans',
  'clusterserviceversions',
  'catalogsources',
]);

function accessRefusal(csv: ClusterObject | undefined): string | undefined {
  const rules = listAt(csv, 'spec', 'install', 'spec', 'clusterPermissions').flatMap((one) =>
    listAt(one, 'rules'),
  );
  const grants = (group: string): readonly unknown[] =>
    rules.filter((rule) => listAt(rule, 'apiGroups').includes(group));
  const usesV0 = grants('operators.coreos.com').some((rule) =>
    listAt(rule, 'resources').some((resource) => RESOURCES.has(resource)),
  );
  return usesV0 && grants('olm.operatorframework.io').length === 0
    ? 'CSV clusterPermissions grant operators.coreos.com access without OLMv1 equivalent'
    : undefined;
}

function groupRefusals({ subscription, objects }: About): (string | undefined)[] {
  const namespace = textAt(subscription, 'metadata', 'namespace');
  const groups = named(objects, 'OperatorGroup', { namespace });
  if (groups.length === 0) return [`no OperatorGroup found in namespace ${namespace}`];
  return groups.map((group) =>
    textAt(group, 'spec', 'serviceAccountName') === ''
      ? undefined
      : 'OperatorGroup has spec.serviceAccountName set; OLMv1 does not support scoped service accounts',
  );
}

function conditionRefusals({ subscription, objects }: About): (string | undefined)[] {
  const namespace = textAt(subscription, 'metadata', 'namespace');
  const name = textAt(subscription, 'status', 'installedCSV');
  return named(objects, 'OperatorCondition', { namespace, name }).map((condition) =>
    listAt(condition, 'status', 'conditions').length === 0
      ? undefined
      : 'OperatorCondition has status.conditions entries; operator actively uses the OperatorCondition API',
  );
}

function sourceRefusals({ subscription, objects }: About): (string | undefined)[] {
  const namespace = textAt(subscription, 'spec', 'sourceNamespace');
  const name = textAt(subscription, 'spec', 'source');
  const [source] = named(objects, 'CatalogSource', { namespace, name });
  if (!source) return [`CatalogSource ${namespace}/${name} does not exist`];
  return [
    textAt(source, 'spec', 'image') === ''
      ? `CatalogSource ${namespace}/${name} has no spec.image: it cannot become a ClusterCatalog`
      : undefined,
  ];
}
