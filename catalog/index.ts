/** The library: reads, validates and renders file-based catalogs as OLM's own tools do. */
export { type ReadBundle, type RegistryBundle, readBundle } from './bundle/registry-bundle.ts';
export {
  type BundleRenderOptions,
  type ImageTemplate,
  parseImageTemplate,
  type RenderedBundle,
  renderBundle,
} from './bundle/render.ts';
export { type EdgeField, type Installed, shortName } from './fbc/edge.ts';
export { DEFAULT_LIMITS, type Loaded, type LoadLimits, load } from './fbc/load.ts';
export {
  type Blob,
  type Blobs,
  type Bundle,
  type Catalog,
  type Channel,
  catalogOf,
  type DeprecationEntry,
  type Deprecations,
  type Entry,
  type Icon,
  locate,
  type Package,
  type PackageBlob,
  type Property,
  type RelatedImage,
} from './fbc/model.ts';
export { formatMinor, type Minor, tryParseMinor } from './fbc/openshift.ts';
export { renderJson, renderOrder } from './fbc/render.ts';
export type { Finding, Location, Severity } from './finding.ts';
export { compareFindings } from './finding.ts';
export {
  type BundleDiff,
  type CatalogDiff,
  type ChannelDiff,
  type DeprecationDiff,
  diffOf,
  type EdgeDiff,
  type PackageDiff,
  touchedPackages,
} from './olm/diff.ts';
export { fixFor } from './olm/foresight/fix.ts';
export type { Fix } from './olm/foresight/fix-edits.ts';
export { type Foresight, foresightOf, stepsOf, type UpgradePath } from './olm/foresight/foresight.ts';
export { type Installation, installationsOf } from './olm/foresight/installation.ts';
export { type InstallationChange, installationChanges } from './olm/foresight/installation-change.ts';
export type { BeforeAfter, PathSummary, UpgradeImpact } from './olm/foresight/upgrade-impact.ts';
export {
  type Change,
  celFor,
  changeOf,
  type Olm,
  type PublishedBundle,
  type World,
  type WorldOptions,
  worldOf,
} from './olm/foresight/world.ts';
export { type ChannelHops, nextHops, type Stop } from './olm/graph/hop-graph.ts';
export { type Extension, type ExtensionResolution, resolveExtension } from './olm/resolve/extension.ts';
export { type Namespace, type Resolution, resolveNamespace } from './olm/resolve/namespace.ts';
export type {
  Fails,
  Outcome,
  PlacedOutcome,
  PlacedTarget,
  PlacedUpgrade,
  Reason,
  ReasonCode,
  Stays,
  Target,
  Upgrade,
} from './olm/resolve/outcome.ts';
export { type LabelSelector, selectorOf } from './olm/resolve/selector.ts';
export type { Scope, ScopeCatalog } from './olm/resolve/snapshot.ts';
export {
  type DigestReference,
  formatReference,
  InvalidReference,
  parseReference,
  type Reference,
  type TagReference,
} from './reference.ts';
export { type CheckedCatalog, type CheckOptions, checkCatalog } from './rules/check-catalog.ts';
export { knownFrom } from './rules/earlier-findings.ts';
export { RULES } from './rules/index.ts';
export { type Rule, runComparison, runForesight, runRules } from './rules/rule.ts';
export { isServed } from './rules/serve-refusals.ts';
export { type CatalogSource, type SourceFile, sourceOf } from './source.ts';
export { meets, parseVersionConstraint, type VersionConstraint } from './version/constraint.ts';
export { satisfies } from './version/satisfies.ts';
export {
  compareVersions,
  formatVersion,
  parseRange,
  parseVersion,
  type Version,
  type VersionRange,
} from './version/version.ts';
