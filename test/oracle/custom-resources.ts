/** CRDs of generated bundles, and whether clusters get from one to the next. */

/** A CRD, as far as upgrades look at it: all of its versions have the same fields. */
export interface Crd {
  readonly versions: readonly string[];
  /** The version in which objects are stored. */
  readonly stored: string;
  readonly fields: readonly string[];
  readonly required: readonly string[];
}

export const FIRST_CRD: Crd = { versions: ['v1alpha1'], stored: 'v1alpha1', fields: ['size'], required: [] };

/** Ways to change a CRD; undefined is one without it. Those that cannot be made leave it as it is. */
export const CRD_CHANGES: readonly ((crd: Crd) => Crd | undefined)[] = [
  (crd) => (crd.versions.includes('v1') ? crd : { ...crd, versions: [...crd.versions, 'v1'], stored: 'v1' }),
  (crd) => {
    const [oldest, ...rest] = crd.versions;
    const [next] = rest;
    return oldest === undefined || next === undefined ? crd : { ...crd, versions: rest, stored: next };
  },
  (crd) => ({ ...crd, required: crd.fields.slice(0, crd.required.length + 1) }),
  (crd) => ({
    ...crd,
    fields: crd.fields.slice(0, -1),
    required: crd.required.filter((field) => crd.fields.slice(0, -1).includes(field)),
  }),
  () => undefined,
  (crd) => ({ ...crd, fields: [...crd.fields, `more${crd.fields.length}`] }),
];

/** Whether objects may be stored in a version that a CRD no longer has: clusters refuse it under either OLM. */
export function losesStored(stored: readonly string[], after: Crd): boolean {
  return stored.some((version) => !after.versions.includes(version));
}

/** Whether objects may not be valid any more, or lose fields: OLM v1 refuses it, OLM v0 does not. */
export function harmsObjects(before: Crd, after: Crd): boolean {
  const isShared = before.versions.some((version) => after.versions.includes(version));
  const isLost = before.fields.some((field) => !after.fields.includes(field));
  return isShared && (isLost || after.required.some((field) => !before.required.includes(field)));
}

interface Described {
  readonly package: string;
  readonly version: string;
  readonly crd: Crd | undefined;
}

/** Properties of a bundle that has manifests: what it provides, its CSV, its CRD. */
export function objectsOf(name: string, { package: of, version, crd }: Described): object[] {
  const group = `${of}.example.com`;
  const provided = (crd?.versions ?? []).map((one) => ({ group, kind: 'Thing', version: one }));
  const owned = provided.map((one) => ({ name: `things.${group}`, kind: one.kind, version: one.version }));
  const csv = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name },
    spec: {
      displayName: of,
      version,
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: true,
      })),
      install: { strategy: 'deployment', spec: { deployments: [] } },
      customresourcedefinitions: { owned },
    },
  };
  return [
    ...provided.map((value) => ({ type: 'olm.gvk', value })),
    ...[csv, ...(crd ? [definitionOf(group, crd)] : [])].map((object) => ({
      type: 'olm.bundle.object',
      value: { data: Buffer.from(JSON.stringify(object)).toString('base64') },
    })),
  ];
}

function definitionOf(group: string, { versions, stored, fields, required }: Crd): object {
  const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]));
  const spec = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names: { kind: 'Thing', plural: 'things', singular: 'thing', listKind: 'ThingList' },
      scope: 'Namespaced',
      versions: versions.map((name) => ({ name, served: true, storage: name === stored, schema })),
    },
  };
}
