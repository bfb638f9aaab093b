/** What an operator may become at one version of the platform, and the least of a catalog that brings it there. */
import type { Cel } from '../../fbc/cel/cel.ts';
import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Lifecycles } from '../../fbc/lifecycle.ts';
import { type Blobs, type Bundle, type Catalog, catalogOf, type Package } from '../../fbc/model.ts';
import { compareMinors, limitAllows, limitOf, type Minor } from '../../fbc/openshift.ts';
import { compareText } from '../../go/text.ts';
import { detailedPathV0, detailedPathV1 } from '../../olm/foresight/detailed-path.ts';
import { MOST_EFFORT } from '../../olm/foresight/world.ts';
import type { ExtensionSpec } from '../../olm/resolve/next-v1.ts';
import type { ScopeCatalog } from '../../olm/resolve/snapshot.ts';
import { isServed } from '../../rules/serve-refusals.ts';
import { meets, parseVersionConstraint } from '../../version/constraint.ts';
import { compareVersions, formatVersion, type Version } from '../../version/version.ts';
import type { CatalogSelection, PackageSelection } from '../image-set.ts';
import { filterImageSet } from '../select/image-set-filter.ts';
import type { ClusterOperator, PlatformCatalog } from './cluster.ts';

/** A version of the platform at which operators are upgraded. */
export interface Stage {
  readonly platform: Minor;
  /** Versions that the cluster goes to with what is installed at the end of this stage; none at the last one. */
  readonly next: readonly Minor[];
  readonly catalogs: readonly PlatformCatalog[];
  /** Whether a bundle may run at the versions between this stage and the next one. */
  readonly mayPass: (packageName: string, bundle: Bundle) => boolean;
}

/** What an operator becomes in a stage. */
export interface StageChoice {
  readonly home: PlatformCatalog;
  /** What an ImageSetConfiguration selects of its catalog. */
  readonly selection: PackageSelection;
  /** The channel of the Subscription, or that of the ClusterExtension. */
  readonly channel: string;
  readonly end: Installed;
  readonly isUpgrade: boolean;
  /** What is not good about the bundle; worse ones come later. */
  readonly drawbacks: readonly string[];
}

export interface StageContext {
  readonly cel: Cel | undefined;
  /** The day, as `2026-01-31`. */
  readonly today: string;
  readonly lifecycles: (catalog: Catalog) => Lifecycles;
}

/** Ways to leave a stage, the best first: what has fewer drawbacks, keeps its channel, and is lower. */
export function choicesAt(
  stage: Stage,
  operator: ClusterOperator,
  context: StageContext,
): Generator<StageChoice> {
  const home = homeOf(stage, operator.package);
  return home
    ? choicesAmong(candidates(stage, { operator, home, context }), { stage, operator, home, context })
    : noChoices();
}

function* noChoices(): Generator<StageChoice> {}

/** The catalog of a stage that has a package. */
export function homeOf({ catalogs }: Pick<Stage, 'catalogs'>, name: string): PlatformCatalog | undefined {
  return catalogs.find(({ catalog }) => catalog.packages.has(name));
}

interface OperatorAtStage {
  readonly stage: Stage;
  readonly operator: ClusterOperator;
  readonly home: PlatformCatalog;
  readonly context: StageContext;
}

interface Candidate {
  readonly bundle: Bundle;
  readonly version: Version;
  readonly channel: string;
  readonly drawbacks: readonly string[];
  /** Position of the channel: that of the operator, the default one, the others. */
  readonly rank: number;
}

/**
 * The bundles that an operator may end a stage with, the best first: those with fewer drawbacks, then in a preferred
 * channel, then lower versions.
 */
function candidates(stage: Stage, { operator, home, context }: Omit<OperatorAtStage, 'stage'>): Candidate[] {
  const ofPackage = home.catalog.packages.get(operator.package);
  if (!ofPackage) return [];
  const { version: installed } = operator.installed;
  const all = channelsOf(ofPackage, operator).flatMap((channel, rank) =>
    (ofPackage.channels.get(channel)?.entries ?? []).flatMap(({ name }): Candidate[] => {
      const bundle = ofPackage.bundles.get(name);
      const version = bundle?.version;
      if (!bundle || !version) return [];
      const isLower = installed !== undefined && compareVersions(version, installed) < 0;
      if (isLower || !mayLeaveWith(stage, operator.package, bundle)) return [];
      const lifecycle = context.lifecycles(home.catalog).of(operator.package, version)?.lifecycle;
      // Without lifecycle metadata, nothing speaks against a version of the platform.
      const works = (minor: Minor): boolean =>
        lifecycle?.openshift?.some((one) => compareMinors(one, minor) === 0) ?? true;
      if (!works(stage.platform)) return [];
      const drawbacks = [
        ...(ofPackage.deprecatedBundles.has(name) ? ['it is deprecated'] : []),
        ...(ofPackage.deprecatedChannels.has(channel) ? [`its channel ${channel} is deprecated`] : []),
        ...(isOver(lifecycle?.phases ?? [], context.today) ? ['its support has ended'] : []),
        ...(stage.next.every(works)
          ? []
          : ['its lifecycle metadata does not have the next version of the platform']),
      ];
      return [{ bundle, version, channel, drawbacks, rank }];
    }),
  );
  return all.sort(
    (a, b) =>
      a.drawbacks.length - b.drawbacks.length ||
      a.rank - b.rank ||
      compareVersions(a.version, b.version) ||
      compareText(a.bundle.name, b.bundle.name),
  );
}

/** Whether a cluster may leave a stage with a bundle: nothing keeps it from the versions up to the next stage. */
export function mayLeaveWith({ next, mayPass }: Stage, packageName: string, bundle: Bundle): boolean {
  const limit = limitOf(bundle.properties);
  return next.every((minor) => limitAllows(limit, minor)) && mayPass(packageName, bundle);
}

/** Whether all support for a version has ended; false where no phase is known. */
function isOver(phases: readonly { readonly end: string }[], today: string): boolean {
  return phases.length > 0 && phases.every(({ end }) => end < today);
}

/** Channels of a package, those first that need no change of the Subscription. */
function channelsOf({ channels, defaultChannel }: Package, operator: ClusterOperator): string[] {
  const own = operator.channels.length > 0 ? operator.channels : [defaultChannel];
  const others = [...channels.keys()].sort(compareText);
  return [...new Set([...own, defaultChannel, ...others])].filter((name) => channels.has(name));
}

/** The candidates that the operator can reach, each with the least that must be mirrored for it. */
function* choicesAmong(some: readonly Candidate[], at: OperatorAtStage): Generator<StageChoice> {
  const whole = scopeCatalogs(at.stage.catalogs);
  for (const candidate of some) {
    const selection = leastSelection(candidate, at, whole);
    if (!selection) continue;
    yield {
      home: at.home,
      selection,
      channel: candidate.channel,
      end: installedOf(candidate.bundle),
      isUpgrade: candidate.bundle.name !== at.operator.installed.name,
      drawbacks: candidate.drawbacks,
    };
  }
}

/** The whole catalogs, in which others of an upgrade may be found; they have names of their own. */
export function scopeCatalogs(catalogs: readonly PlatformCatalog[]): ScopeCatalog[] {
  return catalogs.map(({ name, catalog }) => ({
    name: wholeName(name),
    namespace: 'olm',
    priority: 0,
    catalog,
    serving: true,
  }));
}

export function wholeName(name: string): string {
  return `${name} as released`;
}

/**
 * The smallest part of a package with which OLM upgrades an operator to a candidate and no further; undefined if there is
 * none.
 */
function leastSelection(
  candidate: Candidate,
  at: OperatorAtStage,
  whole: readonly ScopeCatalog[],
): PackageSelection | undefined {
  const top = formatVersion(candidate.version);
  const selection = (minVersion: string | undefined): PackageSelection => ({
    name: at.operator.package,
    ...(isDefault(at, candidate.channel) ? {} : { defaultChannel: candidate.channel }),
    channels: [
      {
        name: candidate.channel,
        ...(minVersion === undefined ? {} : { minVersion }),
        maxVersion: top,
      },
    ],
  });
  const pathFor = (some: PackageSelection): readonly Version[] | undefined =>
    pathWith(some, { candidate, at, whole });
  const alone = selection(top);
  if (pathFor(alone)) return alone;
  // The whole channel says by which versions OLM gets there, if opm serves it.
  const path = pathFor(selection(undefined)) ?? newerIn(at, candidate);
  return path
    .toSorted((a, b) => compareVersions(b, a))
    .map((version) => selection(formatVersion(version)))
    .find((some) => pathFor(some));
}

/** The versions of a channel above what is installed. */
function newerIn({ home, operator }: OperatorAtStage, { channel }: Candidate): Version[] {
  const ofPackage = home.catalog.packages.get(operator.package);
  const { version: installed } = operator.installed;
  return (ofPackage?.channels.get(channel)?.entries ?? [])
    .flatMap(({ name }) => ofPackage?.bundles.get(name)?.version ?? [])
    .filter((version) => !installed || compareVersions(version, installed) > 0);
}

function isDefault({ home, operator }: OperatorAtStage, channel: string): boolean {
  return home.catalog.packages.get(operator.package)?.defaultChannel === channel;
}

/**
 * The versions through which OLM gets to the candidate if only this selection is mirrored; undefined if it ends
 * elsewhere.
 */
function pathWith(
  selection: PackageSelection,
  { candidate, at, whole }: { candidate: Candidate; at: OperatorAtStage; whole: readonly ScopeCatalog[] },
): readonly Version[] | undefined {
  const { home, operator, context } = at;
  const catalog = selectedOf(home, [selection]);
  if (!catalog) return undefined;
  const source: ScopeCatalog = {
    name: home.name,
    namespace: 'olm',
    priority: 0,
    catalog,
    serving: isServed(catalog, []),
  };
  const { channel } = candidate;
  const scope = { cel: context.cel, effort: { left: MOST_EFFORT } };
  // OLM v0 may find in the whole catalogs what the candidate requires; OLM v1 installs nothing that requires others.
  const { steps, last } =
    operator.olm === 'v0'
      ? detailedPathV0(
          { ...scope, catalogs: [source, ...whole] },
          { source, place: { package: operator.package, channel } },
          operator.installed,
        )
      : detailedPathV1(
          { ...scope, catalogs: [source] },
          specOf(operator, channel, candidate.version),
          operator.installed,
        );
  const end = steps.at(-1)?.to ?? operator.installed;
  if (last.kind !== 'stays' || end.name !== candidate.bundle.name) return undefined;
  return steps.flatMap(({ to }) => to.version ?? []);
}

/**
 * Why an operator cannot be upgraded although the whole catalog is there, in OLM's words; undefined if OLM reports
 * nothing.
 */
export function complaintAt(
  stage: Stage,
  operator: ClusterOperator,
  { cel }: StageContext,
): string | undefined {
  const home = homeOf(stage, operator.package);
  const catalogs = scopeCatalogs(stage.catalogs);
  const source = catalogs.find(({ catalog }) => catalog === home?.catalog);
  if (!source) return undefined;
  const scope = { cel, effort: { left: MOST_EFFORT }, catalogs };
  const [own] = operator.channels;
  const channel = own ?? source.catalog.packages.get(operator.package)?.defaultChannel ?? '';
  const { last } =
    operator.olm === 'v0'
      ? detailedPathV0(scope, { source, place: { package: operator.package, channel } }, operator.installed)
      : detailedPathV1(scope, specOf(operator, channel, undefined), operator.installed);
  return last.kind === 'fails' ? last.reason.text : undefined;
}

/** What a ClusterExtension must ask for during the upgrade, so that its channels and range allow the planned version. */
export function specOf(
  { package: name, channels, range }: Pick<ClusterOperator, 'package' | 'channels' | 'range'>,
  channel: string,
  end: Version | undefined,
): ExtensionSpec {
  return {
    package: name,
    channels: channels.length === 0 || channels.includes(channel) ? channels : [channel],
    range: range === '' || !end || isIn(end, range) ? range : `<=${formatVersion(end)}`,
  };
}

/** A range that cannot be read lets no version in, so it is replaced. */
function isIn(version: Version, range: string): boolean {
  try {
    return meets(version, parseVersionConstraint(range));
  } catch {
    return false;
  }
}

/** The part of a catalog that packages select; undefined where oc-mirror refuses the selection. */
export function selectedOf(
  { catalog, reference }: PlatformCatalog,
  packages: readonly PackageSelection[],
): Catalog | undefined {
  const selection: CatalogSelection = { catalog: reference, full: false, packages };
  const { blobs, findings } = filterImageSet(
    blobsOf(catalog, new Set(packages.map(({ name }) => name))),
    selection,
  );
  return findings.length > 0 ? undefined : catalogOf(blobs);
}

/** Blobs by the names of packages: a plan tries many selections of the same ones. */
const blobsByCatalog = new WeakMap<Catalog, Map<string, Blobs>>();

/** The blobs of some packages: a selection of them looks at nothing else. */
function blobsOf(catalog: Catalog, names: ReadonlySet<string>): Blobs {
  const key = JSON.stringify([...names].sort());
  const blobsByNames = blobsByCatalog.get(catalog) ?? new Map<string, Blobs>();
  blobsByCatalog.set(catalog, blobsByNames);
  const before = blobsByNames.get(key);
  if (before) return before;
  const { packages, channels, bundles, deprecations, others } = catalog.blobs;
  const isOf = (one: { readonly package: string }): boolean => names.has(one.package);
  const blobs = {
    packages: packages.filter(({ name }) => names.has(name)),
    channels: channels.filter(isOf),
    bundles: bundles.filter(isOf),
    deprecations: deprecations.filter(isOf),
    others: others.filter(isOf),
  };
  blobsByNames.set(key, blobs);
  return blobs;
}
