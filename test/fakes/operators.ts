/** An operator's folder as community repositories have it: bundles, templates, settings. */

/** The bundle directory of a version. */
export function bundleFiles(name: string, version: string, release?: string): Record<string, string> {
  const folder = `operators/${name}/${version}`;
  return {
    [`${folder}/manifests/${name}.clusterserviceversion.yaml`]: `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: ${name}.v${version}}
spec:
  version: ${version}
  displayName: ${name}
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
`,
    [`${folder}/metadata/annotations.yaml`]: `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: ${name}
  operators.operatorframework.io.bundle.channels.v1: stable
`,
    ...(release === undefined ? {} : { [`${folder}/release-config.yaml`]: release }),
  };
}

/** A bundle directory as {@link bundleFiles} makes it, which no cluster could install: `csv/install-modes` says so. */
export function withoutInstallModes(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, text.replace('supported: true', 'supported: false')]),
  );
}

/** `release-config.yaml` that puts a version behind another one. */
export function releaseConfig(replaces: string): string {
  return `catalog_templates:\n- {template_name: basic.yaml, channels: [stable], replaces: ${replaces}}\n`;
}

export const CI = `reviewers: [bob]
fbc:
  enabled: true
  catalog_mapping:
  - {template_name: basic.yaml, catalog_names: [v4.12, v4.20], type: olm.template.basic}
`;

export function basicTemplate(name: string, version: string, image: string): string {
  return `# by hand
schema: olm.template.basic
entries:
- {schema: olm.package, name: ${name}, defaultChannel: stable}
- schema: olm.channel
  package: ${name}
  name: stable
  entries:
  - name: ${name}.v${version} # the first
- {schema: olm.bundle, image: '${image}'}
`;
}
