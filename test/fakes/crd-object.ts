/** A small CustomResourceDefinition. */

/** @param properties of the schema of its one version */
export function crdObject(
  name: string,
  properties: Readonly<Record<string, object>>,
): { readonly spec: object } & Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}

/** One whose fields are texts, as JSON. */
export function etcdCrd(fields: readonly string[]): string {
  const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]));
  return JSON.stringify(crdObject('etcds.etcd.io', properties));
}
