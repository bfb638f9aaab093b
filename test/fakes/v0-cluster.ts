/** Objects of a cluster with OLM v0, as its client prints them. */

type Fields = Readonly<Record<string, unknown>>;

export interface ClusterObject extends Fields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Fields | undefined;
  readonly status?: Fields | undefined;
}

export interface Subscribed {
  /** Of the Subscription; that of the package when left out. */
  readonly name?: string;
  readonly namespace?: string;
  readonly version?: string;
  readonly source?: string;
  readonly spec?: Fields;
  readonly watches?: string;
  readonly modes?: readonly string[];
}

export const SOURCE = 'community-operators';

/** A Subscription that is up to date, with its ClusterServiceVersion, its OperatorGroup and its OperatorCondition. */
export function subscribed(of: string, settings: Subscribed = {}): ClusterObject[] {
  const { namespace = 'ops', version = '1.0.0', source = SOURCE, spec = {}, watches = '' } = settings;
  const { name = of, modes = ['AllNamespaces'] } = settings;
  const csv = `${of}.v${version}`;
  return [
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { namespace, name },
      spec: { name: of, channel: 'stable', source, sourceNamespace: 'marketplace', ...spec },
      status: { installedCSV: csv, state: 'AtLatestKnown' },
    },
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata: { namespace, name: csv, annotations: { 'olm.targetNamespaces': watches } },
      spec: { version, installModes: modes.map((type) => ({ type, supported: true })) },
      status: { phase: 'Succeeded', reason: 'InstallSucceeded' },
    },
    {
      apiVersion: 'operators.coreos.com/v1',
      kind: 'OperatorGroup',
      metadata: { namespace, name: 'ops' },
      spec: watches === '' ? {} : { targetNamespaces: watches.split(',') },
    },
    { apiVersion: 'operators.coreos.com/v2', kind: 'OperatorCondition', metadata: { namespace, name: csv } },
  ];
}

export function catalogSource(
  name: string = SOURCE,
  spec: Fields = {},
  namespace = 'marketplace',
): ClusterObject {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'CatalogSource',
    metadata: { namespace, name },
    spec: { sourceType: 'grpc', image: `quay.io/example/${name}:v4.20`, ...spec },
  };
}

export function clusterCatalog(name: string, ref: string, priority = 0): ClusterObject {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name },
    spec: { priority, source: { type: 'Image', image: { ref } } },
  };
}

export function clusterExtension(
  name: string,
  annotations: Readonly<Record<string, string>> = {},
): ClusterObject {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterExtension',
    metadata: { name, annotations },
  };
}

function crd(name: string, spec: Fields, conditions: readonly Fields[]): ClusterObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec,
    status: { conditions },
  };
}

export function objectSets(status = 'True'): ClusterObject {
  return crd('clusterobjectsets.olm.operatorframework.io', {}, [{ type: 'Established', status }]);
}

/** The CRD of ClusterExtensions, of an OLM v1 that manages namespaces or of one that does not. */
export function extensionCrd(required: readonly string[], hasConfig = true): ClusterObject {
  const config = hasConfig ? { config: {} } : {};
  const spec = { properties: { namespace: {}, source: {}, ...config }, required };
  const schema = { openAPIV3Schema: { properties: { spec } } };
  return crd('clusterextensions.olm.operatorframework.io', { versions: [{ name: 'v1', schema }] }, []);
}

/** What a cluster with OLM v1 has besides its operators. */
export function platform(): ClusterObject[] {
  return [
    catalogSource(),
    clusterCatalog('default', 'quay.io/example/default:v4.20'),
    objectSets(),
    extensionCrd(['namespace']),
  ];
}

/** The objects with another value in one of them. */
export function changed(
  objects: readonly ClusterObject[],
  kind: string,
  change: Partial<ClusterObject>,
): ClusterObject[] {
  return objects.map((one) => (one.kind === kind ? { ...one, ...change } : one));
}
