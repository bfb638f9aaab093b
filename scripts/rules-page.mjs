// The page docs/rules.md: every rule with its source, what it says, and what to do.
import { existsSync } from 'node:fs';

/** Where documents ask for what rules check, by kind or by id. Sections are those of the documents. */
const SOURCES = {
  advisory: 'none of the documents; docs/advisories.md',
  annotations: 'Operators 4.5, 1.3.2.2',
  api: 'Operators 4.5, 1.3.2; the deprecation guide of Kubernetes',
  bundle: 'Extensions, 4.1.3.3',
  'bundle/dangling':
    'none of the documents. The check check_dangling_bundles of operator-pipelines is another one: it looks at entries of generated catalogs without an upgrade path to the head, as channel/stranded does',
  channel: 'Extensions, 4.1.3.2',
  console: 'Generating a CSV, annotations',
  crd: 'Generating a CSV, owned CRDs; Operators 4.5, 1.3.2',
  csv: 'Generating a CSV, required and optional fields',
  dependency: 'Operators 4.5, 1.3.2.3',
  deprecation: 'Extensions, 4.1.3.4',
  disconnected: 'Generating a CSV, restricted networks',
  drift: 'Extensions, 4.1.8',
  entry: 'Extensions, 4.1.3.2',
  fbc: 'Extensions, 4.1',
  fragment: "none of the documents; Konflux's task validate-fbc; docs/presets.md",
  graph: 'Extensions, 5.2',
  'graph/crd-unsafe-edge': 'Extensions, 5.3',
  'graph/olmv1-unsupported': 'Extensions, 5.1.1',
  'graph/newly-unsupported-v1': 'Extensions, 5.1.1',
  image: 'Generating a CSV, restricted networks',
  layout: 'Extensions, 4.1',
  lifecycle: 'none of the documents; enhancements#1991 of OpenShift',
  manifest: 'Operators 4.5, 1.3.2',
  operator: 'none of the documents; the static checks of operator-pipelines; docs/presets.md',
  release: 'none of the documents; the release policy of Conforma; docs/presets.md',
  object: 'none of the documents; the validators of operator-framework/api',
  olmv1: 'Extensions, 5.1.1',
  openshift: 'Generating a CSV, compatibility',
  package: 'Extensions, 4.1.3.1',
  'package-manifest': 'Operators 4.5, 1.3.1; OLM 4.1',
  platform: 'Generating a CSV, architectures and operating systems',
  practice: 'Generating a CSV, optional fields; the best practices of OLM',
  store: 'the required fields that operator-pipelines checks in the community repositories',
  scorecard: 'Operators 4.5, 4.6',
  webhook: 'Generating a CSV, webhooks',
};

/** When a finding is milder than its rule, by severity. */
const MILDER = {
  'fragment/base-image': { warning: 'if a build argument without a default names the base image' },
  'fragment/versions': {
    warning: 'if the versions are on both sides of 4.17, which read different metadata',
  },
  'annotations/folder': { warning: 'if only the annotation of metadata/ differs' },
  'annotations/unreadable': { warning: 'if the file is not metadata/annotations.yaml' },
  'manifest/unreadable': { warning: 'for a link to nothing or to a directory in metadata/' },
  'api/removed-1-22': { warning: 'if the bundle does not declare that it runs on Kubernetes 1.22' },
  'api/removed-1-25': {
    warning: 'if the bundle does not declare that it runs on Kubernetes 1.25, and for permissions',
  },
  'api/removed-1-26': { warning: 'if the bundle does not declare that it runs on Kubernetes 1.26' },
  'bundle/csv-name': { warning: 'for a copy in the catalog, if the bundle has an image' },
  'crd/owned-group': { warning: 'in checks of pull requests: opm renders such a bundle' },
  'crd/field-case': { warning: 'if opm does not need the field' },
  'csv/field-case': { warning: 'if OLM does not require the field' },
  'csv/type-meta': { warning: 'if there is an apiVersion, but another one' },
  'csv/version': { warning: 'if there is a version, but not a semantic one' },
  'dependency/constraint': { warning: 'for constraints without CEL, which opm does not validate' },
  'disconnected/listed': {
    info: 'for images of containers and annotations, which opm or no cluster needs listed',
  },
  'graph/bundle-mutated': {
    warning:
      'if only properties change that clusters read from the catalog, or between product lines, whose catalogs already have other bundles under one name',
    info: 'if the bundle was never published',
  },
  'graph/channel-removed': { info: 'if the channel was never published' },
  'graph/crd-dropped': { warning: 'if only OLM v0 follows the edge' },
  'graph/crd-unsafe-edge': {
    warning: 'if only OLM v0 follows the edge, and the CRD keeps its stored versions',
    info: 'if no cluster can follow the edge, or the catalog does not contain the CRDs',
  },
  'graph/csv-version': { warning: 'if the change strands no cluster' },
  'graph/default-channel-changed': { info: 'if no subscription is led elsewhere' },
  'graph/downgrade-edge': { warning: 'if no cluster follows the edge today' },
  'graph/downgrade-on-platform-upgrade': {
    warning: 'if the channel is new, only a suffix is lower, or no change is compared, as in audit',
  },
  'graph/gvk-takeover': { warning: 'if the catalog already had both packages' },
  'graph/head-regression': { info: 'if the old head was never published' },
  'graph/install-modes-narrowed': { warning: 'if AllNamespaces, or another mode, stays supported' },
  'graph/olmv1-unsupported': { warning: 'if the clusters also run OLM v0' },
  'graph/permissions-grow': { info: 'if it is less than all verbs on all kinds in all namespaces' },
  'graph/package-removed': {
    warning: 'if the catalog is renamed, or ends as the oldest one',
    info: 'if the package was never published',
  },
  'graph/path-length': { info: 'up to 25 upgrades in a row' },
  'graph/properties-changed': { info: 'if the bundle keeps its metadata' },
  'graph/repeated-image': { warning: 'if no change is compared, as in validate and audit' },
  'graph/stranded-published': { warning: 'if the version left the catalog more than a year ago' },
  'graph/strands-dependents': { warning: 'if no upgrade path leads through the bundle' },
  'graph/strands-installed-v1': { warning: 'if OLM v1 refused the bundle before the change' },
  'graph/strands-on-platform-upgrade': { warning: 'if the change does not cause the loss' },
  'graph/suspicious-name': { warning: 'if OLM accepts the name' },
  'graph/unreadable-requirement': {
    warning: 'if other entries skip the bundle',
  },
  'graph/unsatisfied-dependency': { warning: 'if Portolan does not know the other catalogs of the clusters' },
  'image/checked': { info: 'for checks that passed' },
  'image/tag-moved': { info: 'if the image is pinned to the digest that the tag had' },
  'lifecycle/platform-ends': { info: 'if the version is not the head of the default channel' },
  'lifecycle/support-ends': {
    info: 'if support ends within a year, or the version is not the head of the default channel',
  },
  'lifecycle/version': { info: 'if no bundle has the version' },
  'manifest/size': { warning: 'above 85 % of the limit' },
  'openshift/max-version': {
    warning: 'if OLM reads the value, but the validators do not, or read another version',
  },
  'openshift/max-version-needed': { warning: 'for APIs that Kubernetes 1.25 or 1.26 removed' },
  'openshift/versions-label': { warning: 'if there is no Dockerfile' },
  'openshift/versions-range': {
    warning:
      'if the value is a number, or the range offers the bundle to versions that clusters cannot reach with it',
  },
  'package-manifest/default-missing': { warning: 'if there is only one channel' },
  'operator/kubernetes-version': {
    warning: 'if this is only so for versions later than OpenShift 4.17, and for lists of versions',
  },
  'operator/name': { warning: 'if the operator has other bundles' },
  'operator/update-graph': { warning: 'if it is missing' },
  'store/required-field': { warning: 'for annotations and keywords' },
};

/** What rules say of what no fixture can hold: a file of 512 MB, a link, a whole repository. */
const WITHOUT_FIXTURE = {
  'operator/bundle-changed': {
    message:
      'the pull request changes the bundle "harbour-operator/1.3.0", which the base branch has already',
    hint: 'undo the change, and add a new version',
  },
  'operator/bundle-deleted': {
    message: 'the pull request deletes the bundle "harbour-operator/1.3.0", which a catalog still has',
    hint: 'remove harbour-operator.v1.3.0 from the catalogs first',
  },
  'operator/pull-request': {
    message: 'the pull request changes harbour-operator/1.3.0 and the catalogs v4.20/harbour-operator',
    hint: 'open a pull request for the bundle, and one for the catalogs',
  },
  'bundle/dangling': {
    message:
      'bundle directory 1.3.0 of package "harbour-operator" is in no catalog of this repository: clusters cannot install it',
    hint: 'add the bundle to a channel, or remove operators/harbour-operator/1.3.0',
  },
  'drift/mapping': {
    message: 'catalog "v4.21" has package "harbour-operator", but no template has it in its mapping',
    hint: 'catalog_names: [v4.21]',
  },
  'drift/template': {
    message:
      'operators/harbour-operator/catalog-templates/stable.yaml and its rendered catalog differ: the entry "harbour-operator.v1.3.0" in channel "stable" is only in the template',
    hint: 'render the template again into the catalog, or change the template',
  },
  'advisory/undone': {
    message:
      'the bundle "etcd.v0.9.4" of package "etcd" is back, although the advisory ETCD-2026-001 (yank 0.9.4) removed it',
    hint: 'run portolan advisory apply ETCD-2026-001 on the merged files, or change the advisory first',
  },
  'layout/unmatched': {
    message:
      'fbc/v4.20/harbour-operator/catalog.yaml contains catalog blobs, but no layout pattern matches it, so Portolan did not check it',
    hint: "add a pattern to layout.catalog in the policy, for example 'fbc/{catalog}/{package}/**'",
  },
  'package/update-graph': {
    message: 'com.redhat.openshift.versions is "4.20-"',
    hint: 'use a version (v4.18), a range (v4.18-v4.20), or exactly one version (=v4.20)',
  },
  'fbc/limits': { message: 'the file has 40000000 bytes, the limit is 33554432' },
  'fbc/unreadable': { message: 'a symbolic link' },
};

/** Findings about what surrounds catalogs. They keep their severity: whoever reads a file needs it to be whole. */
const OTHERS = [
  ['composite/package', 'error', 'A package of a composite catalog is in the image that it is taken from'],
  ['composite/reference', 'error', 'A composite catalog names images by references'],
  [
    'mirror/catalog',
    'error',
    'The catalog of a freshness statement can be read from the mirror, under its name. Load the archive again, or sync',
  ],
  [
    'mirror/clock',
    'error',
    'The clock is not behind the freshness statement of a mirror, or behind the last check. Correct it; if it was ahead at the last check, remove `seenAt` from the file of `--remember`',
  ],
  [
    'mirror/foreign-signature',
    'error',
    'A trusted key has signed the freshness statement of a mirror, and nobody changed it. Pass the right public key; while keys change, both',
  ],
  [
    'mirror/forked',
    'error',
    'A freshness statement follows the one that was accepted before it. Sign from one directory (`--out`); if nobody signs elsewhere, replace the key',
  ],
  ['mirror/mapping', 'error', 'Every line of a mapping names a source and a destination'],
  [
    'mirror/mixed',
    'error',
    'A mirror has the images of its freshness statement, and no others. Load the whole archive again, or sync',
  ],
  ['mirror/mixture', 'error', 'ImageContentSourcePolicies are not migrated together with what replaces them'],
  [
    'mirror/other-statement',
    'error',
    'The freshness statement of a mirror is about this mirror, and this index image of it. Bring the right one, or sync',
  ],
  ['mirror/reference', 'error', 'Every reference that clusters pull is mirrored'],
  [
    'mirror/rollback',
    'error',
    'A mirror does not go back behind the freshness statement that was accepted before. Load the newest archive',
  ],
  [
    'mirror/stale',
    'error',
    'The freshness statement of a mirror has not expired: somebody syncs, and nobody holds new states back. Sync, or bring a newer archive',
  ],
  [
    'mirror/unsigned',
    'error',
    'A mirror that is checked with a key has a freshness statement. If nobody deleted it, sign with `--sign-key`',
  ],
  ['owners/code-owners', 'warning', 'CODEOWNERS names nobody who may not change the package'],
  ['owners/entry', 'warning', 'An owner is an account, an account with its number, or a team'],
  ['advisory/file', 'error', 'An advisory is a plain file with the name of its id'],
  ['advisory/unknown-key', 'error', 'An advisory has only keys that there are'],
  ['advisory/value', 'error', 'Every value of an advisory is of the kind that its key takes'],
  ['owners/file', 'error', 'A file that names owners can be read'],
  ['package/reserved', 'error', 'No new package takes a name that the policy reserves'],
  ['path/collision', 'error', 'No two paths differ only by case, or by how their characters are composed'],
  ['path/limits', 'error', 'Files, and their number, are within the limits of the policy'],
  ['path/mode', 'error', 'A pull request brings plain files: no links, no submodules'],
  ['path/name', 'error', 'A path can be written on every system'],
  ['policy/file', 'error', 'The policy is a plain file'],
  [
    'policy/shared-place',
    'error',
    'No two catalogs of a commit are published to the same place, nor two images of one',
  ],
  ['policy/unsigned', 'error', 'What the policy asks to be signed can be signed by whoever publishes'],
  ['policy/unknown-key', 'error', 'The policy has only keys, and names only rules, that there are'],
  ['policy/value', 'error', 'Every value of the policy is of the kind that its key takes'],
  ['settings/document', 'warning', 'A file of settings is one document'],
  ['settings/repeated-key', 'warning', 'A key stands once in its mapping'],
  ['settings/yaml', 'error', 'A file of settings is YAML'],
];

/**
 * The page about all rules; `exampleOf` gives an example of a rule from its folder of fixtures, `presetsOf` the presets
 * that have it.
 */
export async function rulesMarkdown(rules, exampleOf, presetsOf) {
  const lines = [
    '<!-- Generated by scripts/generate.mjs from catalog/rules and test/rules; do not edit. -->',
    '# Rules',
    '',
    'Every finding names its rule. A policy can set each rule to `error`, `warning`, `info` or `off`.',
    '',
    'The messages of real tools are those that a rule stands for (`opm validate` for catalogs; opm, operator-sdk, the',
    'validators of OperatorHub and OLM v1 for bundles); rules without any are ours.',
    '',
    'Each example is a part of a test fixture in `test/rules`: the rule reports the lines with `-`, and accepts those with',
    '`+`. Where a change comes first, the rule reports the change, and accepts it with the fix. To repair a failed pull request,',
    'see [Start: authors](start-author.md).',
    '',
    'Sources: *Generating a CSV* is "Generating a cluster service version", *Operators 4.5* and *OLM 4.1* are the',
    'documentation of those releases of OpenShift, *Extensions* is that of OLM v1.',
    '',
  ];
  const kinds = new Map();
  for (const rule of rules) {
    const kind = rule.id.split('/')[0];
    kinds.set(kind, [...(kinds.get(kind) ?? []), rule]);
  }
  for (const [kind, ofKind] of kinds) {
    lines.push(`## ${kind}`, '');
    if (SOURCES[kind]) lines.push(`Source: ${SOURCES[kind]}.`, '');
    for (const rule of ofKind) lines.push(...(await ruleLines(rule, exampleOf, presetsOf(rule.id))));
  }
  lines.push('## Files around catalogs', '', '| rule | severity | what must hold |', '|---|---|---|');
  for (const [id, severity, summary] of OTHERS)
    lines.push(`| <a id="${id.replace('/', '-')}"></a>\`${id}\` | ${severity} | ${summary} |`);
  lines.push('');
  return lines.join('\n');
}

/** The part of the page about one rule. What has no fixture has an example of its own in {@link WITHOUT_FIXTURE}. */
async function ruleLines({ id, severity, summary, fix, isOptional, opm = [] }, exampleOf, presets) {
  const folder = `test/rules/${id}`;
  const example = existsSync(folder) ? await exampleOf(folder, id) : undefined;
  const finding = example?.finding ?? WITHOUT_FIXTURE[id];
  const milder = Object.entries(MILDER[id] ?? {});
  const severities = [severity, ...milder.map(([name]) => name)].join(' or ');
  const lines = [
    `### <a id="${id.replace('/', '-')}"></a>\`${id}\``,
    '',
    `${severities}: ${plain(summary)}.`,
  ];
  for (const [name, when] of milder) lines.push(`- ${name[0].toUpperCase()}${name.slice(1)}: ${when}`);
  if (isOptional) lines.push(`- Runs only with ${presetText(presets)}, or where the policy names it.`);
  if (SOURCES[id]) lines.push(`- Source: ${SOURCES[id]}.`);
  if (opm.length > 0) lines.push(`- Real tools: ${opm.map(code).join(', ')}`);
  if (finding) lines.push(`- Example: ${code(finding.message)}`);
  const hint = fix ?? finding?.hint;
  if (hint) lines.push(`- Fix: ${code(hint)}`);
  if (example?.change.length > 0) lines.push('', 'The change:', '', ...diff(example.change), '', 'The fix:');
  if (example?.fix.length > 0) lines.push('', ...diff(example.fix));
  return [...lines, ''];
}

/** Presets by their names, such as: the presets `a`, `b`. */
function presetText(names) {
  const shown = names.map((name) => `\`${name}\``).join(', ');
  return `the ${names.length === 1 ? 'preset' : 'presets'} ${shown}`;
}

/** Lines as a block of a difference. */
function diff(lines) {
  return ['```diff', ...lines, '```'];
}

/** A text in which `<` and `*` are nothing else in Markdown. */
function plain(text) {
  return text.replaceAll('<', '\\<').replaceAll('*', '\\*');
}

/** Text as code, whatever backticks are in it. */
function code(text) {
  const line = text.replaceAll('\n', ' ');
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}
