/** The library: file-based catalogs, read, judged and rendered as OLM's own tools do. */
export { type ImageTemplate, parseImageTemplate } from './bundle/image-template.ts';
export { type ReadBundle, type RegistryBundle, readBundle } from './bundle/registry-bundle.ts';
export { type BundleRenderOptions, type RenderedBundle, renderBundle } from './bundle/render.ts';
export {
  type BundleDiff,
  type CatalogDiff,
  type ChannelDiff,
  type DeprecationDiff,
  diffOf,
  type EdgeDiff,
  type PackageDiff,
  touchedPackages,
} from './diff.ts';
export type { Finding, Location, Severity } from './finding.ts';
export { compareFindings } from './finding.ts';
export { type EdgeField, type Installed, shortName } from './graph/edge.ts';
export { type Extension, type ExtensionResolution, resolveExtension } from './graph/extension.ts';
export type { FateChange, Glance, Turn } from './graph/fate-change.ts';
export { type Fix, fixFor } from './graph/fix.ts';
export { type Fate, type Foresight, foresightOf, roadOf } from './graph/foresight.ts';
export { type Installation, installationsOf } from './graph/installation.ts';
export { type Move, movesOf } from './graph/move.ts';
export { type Namespace, type Resolution, resolveNamespace } from './graph/namespace.ts';
export { type ChannelHops, nextHops, type Stop } from './graph/next-hops.ts';
export { formatMinor, type Minor, tryParseMinor } from './graph/openshift.ts';
export type { Fails, Outcome, Reason, ReasonCode, Stays, Target, Upgrade } from './graph/outcome.ts';
export { type LabelSelector, selectorOf } from './graph/selector.ts';
export type { Scope, ScopeCatalog } from './graph/snapshot.ts';
export {
  type Change,
  celFor,
  changeOf,
  type Olm,
  type PublishedBundle,
  type World,
  type WorldOptions,
  worldOf,
} from './graph/world.ts';
export { type Judged, type JudgeOptions, judge } from './judge.ts';
export { DEFAULT_LIMITS, type Loaded, type LoadLimits, load } from './load.ts';
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
} from './model.ts';
export {
  type DigestReference,
  formatReference,
  InvalidReference,
  parseReference,
  type Reference,
  type TagReference,
} from './reference.ts';
export { renderJson, renderOrder } from './render.ts';
export { RULES } from './rules/index.ts';
export { knownFrom } from './rules/known.ts';
export { type Rule, runComparison, runForesight, runRules } from './rules/rule.ts';
export { isServed } from './rules/served.ts';
export { type CatalogSource, type SourceFile, sourceOf } from './source.ts';
export {
  compareVersions,
  formatVersion,
  parseRange,
  parseVersion,
  satisfies,
  type Version,
  type VersionRange,
} from './version.ts';
export { meets, parseVersionConstraint, type VersionConstraint } from './version-constraint.ts';
