/** A first policy for a repository: what differs from the defaults, and nothing else. */

import { dump } from 'js-yaml';
import { minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { WrittenPattern } from '../policy-file.ts';
import type { PresetName } from '../presets/preset.ts';
import { DEFAULT_LAYOUT } from '../read-policy.ts';
import { catalogNamer } from './catalog-names.ts';
import type { FoundLayout } from './layout.ts';
import type { RebuiltBundles } from './rebuilt-bundles.ts';

/** Patterns that need no line in the policy: the default layout has them. */
const DEFAULT_PATTERN = /^catalogs\/\{catalog\}\/\{package\}\/(?:\*\*|(?:catalog|index)\.(?:ya?ml|json))$/;

/** For editors, which then check the file as it is typed. */
const SCHEMA_LINE =
  '# yaml-language-server: $schema=https://raw.githubusercontent.com/portolan/portolan/main/docs/policy.schema.json';

export interface FirstPolicyFacts {
  /** Patterns of registries that may be contacted. */
  readonly registries?: readonly string[];
  /** Paths of `ci.yaml` files with `{package}`, beside the default one. */
  readonly reviewers?: readonly string[];
  /** Gates of others that guard the repository already. */
  readonly presets?: readonly PresetName[];
  /** Those that its latest merges fail. */
  readonly failedPresets?: readonly PresetName[];
  /** Path of a `CODEOWNERS` file that names owners of packages. */
  readonly codeOwners?: string | undefined;
  /** Path of a file with a list of people for each package. */
  readonly ownersFile?: string | undefined;
  /** How often the images of merged bundles were replaced. */
  readonly rebuilt?: RebuiltBundles | undefined;
  /** Patterns of bundle directories that are not in operators/. */
  readonly bundlePatterns?: readonly string[];
  /** Names of the catalogs that a pipeline generates from bundle directories. */
  readonly bundleCatalogs?: readonly string[];
  /** Owners by package, where no file names any. */
  readonly packageOwners?: ReadonlyMap<string, readonly string[]>;
  /** Catalogs in the order in which clusters move through them. */
  readonly order?: readonly string[];
}

/** The text of `.github/portolan.yaml`. */
export function firstPolicy(
  {
    patterns,
    catalogs,
    others = [],
    isMixed,
  }: Pick<FoundLayout, 'patterns' | 'catalogs'> & Partial<FoundLayout>,
  admins: readonly string[],
  facts: FirstPolicyFacts = {},
): string {
  const {
    registries = [],
    presets = [],
    failedPresets = [],
    rebuilt,
    bundlePatterns = [],
    bundleCatalogs = [],
    order = [],
  } = facts;
  const isDefault = patterns.length === 1 && !isMixed && DEFAULT_PATTERN.test(String(patterns[0]));
  const ownPatterns = isDefault ? [] : patterns;
  const lines = [
    SCHEMA_LINE,
    '# All keys and their defaults: https://github.com/portolan/portolan/blob/main/docs/policy.md',
    'apiVersion: portolan/v1alpha1',
    'kind: Portolan',
    '# Portolan reports, and blocks nothing. Remove this line when you agree with its reports.',
    'enforce: off',
    ...layoutLines({
      catalog: patterns.length === 0 ? defaultsWithout(others) : ownPatterns,
      bundle: bundlePatterns,
    }),
    ...bundleCatalogLines(bundleCatalogs),
    'owners:',
    `  admins: ${namesText(admins)}`,
    ...sourceLines(facts),
    ...packageOwnerLines(facts.packageOwners ?? new Map()),
    'approval:',
    '  # Pull requests to other files than catalogs pass; Portolan never merges them. admins: an admin must approve.',
    '  required: {root: none, unknown: none}',
    ...presetLines(presets, failedPresets),
    ...ruleLines([...otherLines(others), ...registryLines(registries)]),
    ...graphLines([...rebuiltLines(rebuilt, [...presets, ...failedPresets]), ...orderLines(catalogs, order)]),
    ...(catalogs.some((name) => minorOfCatalog(name) !== undefined)
      ? [
          '# Where bundles are released by another pipeline: what this image does not have yet may still change.',
          "# graph: {released: {'*': {image: 'registry.redhat.io/redhat/redhat-operator-index:v{minor}'}}}",
        ]
      : []),
    registries.length > 0
      ? `registries: {allow: ${namesText(registries)}}`
      : 'registries: {allow: []} # quay.io/my-org: Portolan looks up new images there',
    'merge: {mode: off} # auto: merge allowed pull requests when all checks pass',
    '# labels: true # label pull requests with the result, for example portolan/needs-approval',
    "# publish: {catalogs: {'*': {image: 'quay.io/my-org/catalog:{catalog}'}}}",
    '',
  ];
  return lines.join('\n');
}

/** The part of the policy with the layout; no line without patterns. */
function layoutLines(patterns: Readonly<Record<'catalog' | 'bundle', readonly WrittenPattern[]>>): string[] {
  const lines = Object.entries(patterns).flatMap(([key, some]) =>
    some.length === 0 ? [] : [`  ${key}:`, ...some.map((pattern) => `  - ${patternText(pattern)}`)],
  );
  return lines.length === 0 ? [] : ['layout:', ...lines];
}

/** The default patterns that match none of the files left out; empty if all of them do. */
function defaultsWithout(others: readonly string[]): readonly string[] {
  const defaults = DEFAULT_LAYOUT.catalog;
  const kept = defaults.filter((pattern) => {
    const nameOf = catalogNamer([pattern]);
    return others.every((path) => nameOf(path) === undefined);
  });
  return kept.length === defaults.length ? [] : kept;
}

/** The part of the policy with the catalogs that a pipeline generates; no line without them. */
function bundleCatalogLines(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  return [
    '# Catalogs that a pipeline generates from operators/: name each version of OpenShift that it builds for.',
    `bundleCatalogs: {names: ${namesText(names)}}`,
  ];
}

/** The sources of owners. The default ones are written out only beside others. */
function sourceLines({ reviewers = [], codeOwners, ownersFile }: FirstPolicyFacts): string[] {
  if (codeOwners === undefined && ownersFile === undefined && reviewers.length === 0) return [];
  return [
    '  # The first source that names an owner counts.',
    '  sources:',
    "  - {path: 'operators/{package}/ci.yaml', format: ci.yaml}",
    ...reviewers.map((path) => `  - {path: ${quoted(path)}, format: ci.yaml}`),
    "  - {path: '{dir}/OWNERS', format: prow}",
    ...(codeOwners === undefined ? [] : [`  - {path: ${codeOwners}, format: codeowners}`]),
    ...(ownersFile === undefined ? [] : [`  - {path: ${ownersFile}, format: packages}`]),
  ];
}

/** Owners by package in `owners`; no line without them. */
function packageOwnerLines(owners: ReadonlyMap<string, readonly string[]>): string[] {
  if (owners.size === 0) return [];
  return ['  packages:', ...[...owners].map(([name, people]) => `    ${quoted(name)}: ${namesText(people)}`)];
}

/** Checks of gates that the repository has already. */
function presetLines(presets: readonly PresetName[], failed: readonly PresetName[]): string[] {
  return [
    ...(presets.length === 0
      ? []
      : [
          '# The checks of the gate that this repository has already: docs/presets.md.',
          `presets: [${presets.join(', ')}]`,
        ]),
    ...(failed.length === 0
      ? []
      : [
          '# The latest merges fail the checks of the gate that this repository has already. When they pass (docs/presets.md):',
          `# presets: [${[...presets, ...failed].join(', ')}]`,
        ]),
  ];
}

/** A pattern as YAML. */
function patternText(pattern: WrittenPattern): string {
  return typeof pattern === 'string'
    ? quoted(pattern)
    : `{path: ${quoted(pattern.path)}, name: ${quoted(pattern.name)}}`;
}

/** Rules that would stop what this repository does every week. */
function ruleLines(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['rules:', ...lines.map((line) => `  ${line}`)];
}

/** The rule that lets changes of sources pass, although they look like catalogs that nobody checks; no line without sources. */
function otherLines(others: readonly string[]): string[] {
  const [first] = others;
  if (first === undefined) return [];
  const more = others.length > 1 ? ` and ${others.length - 1} more` : '';
  return [
    `# ${JSON.stringify(first)}${more}: blobs that a catalog has as well. They are not checked; remove the line if they are published.`,
    'layout/unmatched: warning',
  ];
}

/** Allows bundles to be rebuilt that nobody has yet: Konflux, and what rebuilt bundles before, releases them after the merge. */
function rebuiltLines(rebuilt: RebuiltBundles | undefined, gates: readonly PresetName[]): string[] {
  const { merges, of } = rebuilt ?? { merges: 0, of: 0 };
  if (!rebuilt || (merges === 0 && !gates.includes('konflux'))) return [];
  return [
    merges === 0
      ? '# Konflux releases what is merged later, and rebuilds the newest bundle until then.'
      : `# ${merges} of the last ${of} merges replaced the image of a bundle, which another pipeline releases later.`,
    '# Remove the line if merges are published, or if graph.released (below) names what is.',
    'rebuilds: heads',
  ];
}

/** The rule about registries as information only: operator-pipelines asks of bundles alone where their images are. */
function registryLines(registries: readonly string[]): string[] {
  if (registries.length === 0) return [];
  return [
    '# config.yaml allows registries for bundle images. Images that bundles use may be elsewhere, and are not looked up there.',
    'image/registry: info',
  ];
}

/** The order of catalogs; no line for a single one, nor where names have versions of the platform, which give it. */
function orderLines(catalogs: readonly string[], order: readonly string[]): string[] {
  if (unorderedOf(catalogs).length === 0) return [];
  const names = namesText(order.length > 0 ? order : catalogs);
  return [
    ...(order.length > 0
      ? [`catalogOrder: ${names}`]
      : [
          '# The order in which clusters move from catalog to catalog when the platform is upgraded, where they do:',
          `# catalogOrder: ${names}`,
        ]),
    // The default. A section with nothing but comments would be null, which is not a valid policy.
    'olm: [v0, v1]',
  ];
}

/** The section `graph`; no line without content. */
function graphLines(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['graph:', ...lines.map((line) => `  ${line}`)];
}

/** Catalogs whose names give no order; none where there is one catalog, or versions of the platform. */
export function unorderedOf(catalogs: readonly string[]): readonly string[] {
  return catalogs.length < 2 || catalogs.some((name) => minorOfCatalog(name) !== undefined) ? [] : catalogs;
}

/** A list in one line. */
function namesText(names: readonly string[]): string {
  return `[${names.map(quoted).join(', ')}]`;
}

/** A text as a scalar of YAML, always in quotes and in one line. */
function quoted(text: string): string {
  return dump(text, { forceQuotes: true, lineWidth: -1 }).trimEnd();
}
