/**
 * What a plan comes to, as data and as text: what goes where, what has no place, and
 * which bundles a disconnected cluster can install.
 */
import type { Finding, Location } from '../finding.ts';
import { isObject } from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { parsedJson } from '../json.ts';
import {
  appliedTo,
  hasNoClusterCatalog,
  type MirrorDocuments,
  mirrorDocuments,
} from './documents/documents.ts';
import {
  type GroupReadiness,
  groupLines,
  groupReadiness,
  groupsAsCatalog,
  type ImageGroup,
} from './image-group.ts';
import type { CatalogImages } from './images.ts';
import { type NodeConfig, nodeConfig } from './node/node.ts';
import { type Collision, formatDestination, type ImageRole } from './placement.ts';
import { type MirrorPlan, planMirror } from './plan.ts';
import { withPlatforms } from './platforms.ts';
import { rulesOf } from './read.ts';
import {
  type MirrorContents,
  type MissingReason,
  type MissingReference,
  mirrorReadiness,
  type PackageReadiness,
  placedContents,
  type Readiness,
} from './readiness.ts';
import type { Scope } from './scope.ts';
import type { Style } from './style.ts';

/** The content of `report.json`. */
export interface MirrorReport {
  readonly style: Style;
  readonly scope: Scope;
  readonly catalogs: readonly ReportedCatalog[];
  /** Sorted by source. */
  readonly images: readonly ReportedImage[];
  readonly unplaced: readonly ReportedUnplaced[];
  readonly collisions: readonly Collision[];
  readonly blocked: readonly string[];
  readonly ready: ReadinessReport;
  /** Absent where no chart is selected. */
  readonly charts?: GroupReadiness;
  /** Absent where no release is selected. */
  readonly releases?: GroupReadiness;
}

export interface ReportedCatalog {
  readonly reference: string;
  readonly digest?: string;
  readonly destination: string;
  /** Whether it is a selection, whose image is to be built. */
  readonly selected: boolean;
}

interface ReportedImage {
  readonly source: string;
  readonly destination: string;
  readonly role: ImageRole;
  /** Which images of a manifest list are copied; absent: all. */
  readonly platforms?: readonly string[];
}

interface ReportedUnplaced {
  readonly reference: string;
  readonly why: string;
  readonly location?: Location;
}

interface ReadinessReport {
  readonly bundles: number;
  readonly ready: number;
  /** Bundles of which nothing is known to be missing, but whose deployments are unknown. */
  readonly unchecked: number;
  readonly references: number;
  readonly pullable: number;
  readonly packages: readonly PackageReadiness[];
  /** Sorted by reference. */
  readonly missing: readonly ReportedMissing[];
}

interface ReportedMissing {
  readonly reference: string;
  readonly reason: MissingReason;
  readonly why: string;
  /** `package/bundle` of those that cannot run without it. */
  readonly bundles: readonly string[];
}

/**
 * Reports a plan: its documents are read as a node of the platform reads them.
 *
 * @throws InvalidOption for a platform that is not a version
 */
export function mirrorReport(
  plan: MirrorPlan,
  documents: MirrorDocuments,
  { images, groups = [], platform }: ReportedNeeds,
): MirrorReport {
  const node = nodeConfig(rulesOf(appliedTo(platform).flatMap((name) => documents[name])));
  const contents = placedContents(plan.placements);
  const ready = mirrorReadiness(images, node, contents);
  return {
    style: plan.style,
    scope: plan.scope,
    catalogs: plan.catalogs.map(({ reference, digest, destination, selected }) => ({
      reference,
      ...(digest === undefined ? {} : { digest }),
      destination: formatDestination(destination),
      selected,
    })),
    images: plan.placements.map(({ source, destination, role, platforms }) => ({
      source,
      destination: formatDestination(destination),
      role,
      ...withPlatforms(platforms),
    })),
    unplaced: plan.unplaced.map(({ written, why, location }) => ({
      reference: written,
      why,
      ...(location === undefined ? {} : { location }),
    })),
    collisions: plan.collisions,
    blocked: plan.blocked,
    ready: readinessReport(ready),
    ...groupsReady(groups, node, contents),
  };
}

/** What is to be installed from a mirror. */
interface ReportedNeeds {
  /** Of each catalog of the plan. */
  readonly images: readonly CatalogImages[];
  readonly groups?: readonly ImageGroup[];
  readonly platform?: string | undefined;
}

/** How many charts and releases have all their images in the mirror; kinds that are not mirrored are left out. */
function groupsReady(
  groups: readonly ImageGroup[],
  node: NodeConfig,
  contents: MirrorContents,
): Pick<MirrorReport, 'charts' | 'releases'> {
  const readyOf = (kind: ImageGroup['kind']): GroupReadiness | undefined => {
    const ownGroups = groups.filter((group) => group.kind === kind);
    if (ownGroups.length === 0) return undefined;
    return groupReadiness(ownGroups, mirrorReadiness([groupsAsCatalog(ownGroups)], node, contents));
  };
  const [charts, releases] = [readyOf('chart'), readyOf('release')];
  return { ...(charts && { charts }), ...(releases && { releases }) };
}

/**
 * What clusters can install when the mirror has some of the plan's images; without its index image, nothing of a catalog.
 *
 * @param arrivedTags destinations whose images are in the mirror
 */
export function reachedReadiness(
  { plan, documents, images, groups = [] }: ReachedPlan,
  platform: string | undefined,
  arrivedTags: ReadonlySet<string>,
): Installable {
  const node = nodeConfig(rulesOf(appliedTo(platform).flatMap((name) => documents[name])));
  const arrived = plan.placements.filter(({ destination }) =>
    arrivedTags.has(formatDestination(destination)),
  );
  const absent = new Map(
    plan.catalogs.flatMap(({ destination }, i): [CatalogImages, MissingReference][] => {
      const reference = formatDestination(destination);
      const catalog = images[i];
      if (!catalog || arrivedTags.has(reference)) return [];
      return [[catalog, { reference, reason: 'not copied', why: 'the index image is not in the mirror' }]];
    }),
  );
  const contents = {
    ...placedContents(arrived),
    due: placedContents(plan.placements).places,
    missingIndex: (catalog: CatalogImages) => absent.get(catalog),
  };
  return {
    ready: readinessReport(mirrorReadiness(images, node, contents)),
    ...groupsReady(groups, node, contents),
  };
}

interface ReachedPlan {
  readonly plan: MirrorPlan;
  readonly documents: MirrorDocuments;
  /** Of each catalog of the plan. */
  readonly images: readonly CatalogImages[];
  readonly groups?: readonly ImageGroup[];
}

/** A registry that no catalog names. */
const ANYWHERE = 'mirror.invalid:5000';

/** What a disconnected cluster could install of a catalog, were it mirrored under names of our own. */
export function planReadiness(images: CatalogImages): Readiness {
  const plan = planMirror({ catalogs: [{ reference: `${ANYWHERE}/catalog:latest`, images }], to: ANYWHERE });
  const documents = mirrorDocuments(plan);
  const applied = appliedTo(undefined).flatMap((name) => documents[name]);
  return mirrorReadiness([images], nodeConfig(rulesOf(applied)), placedContents(plan.placements));
}

/** Readiness with its missing references by reference instead of by bundle. */
export function readinessReport({ bundles, ...counts }: Readiness): ReadinessReport {
  const missing = new Map<string, ReportedMissing & { bundles: string[] }>();
  for (const bundle of bundles) {
    for (const one of bundle.missing) {
      const known = missing.get(one.reference) ?? { ...one, bundles: [] };
      known.bundles.push(`${bundle.package}/${bundle.name}`);
      missing.set(one.reference, known);
    }
  }
  return {
    bundles: bundles.length,
    ready: counts.ready,
    unchecked: counts.unchecked,
    references: counts.references,
    pullable: counts.pullable,
    packages: counts.packages,
    missing: [...missing.values()].sort((a, b) => compareText(a.reference, b.reference)),
  };
}

/** How many of the missing references are named. */
const NAMED = 20;

/**
 * `Ready for disconnected clusters: 801 of 803 bundles`, and lines below it for what is missing, by reference.
 *
 * @param most references that are named
 */
export function readinessLines(report: ReadinessReport, most: number = NAMED): string[] {
  const { ready, unchecked, bundles, missing } = report;
  const unknown =
    unchecked > 0 ? `; ${unchecked} not checked: the catalog does not contain their deployments` : '';
  const lines = [
    `Ready for disconnected clusters: ${ready} of ${bundles} ${bundles === 1 ? 'bundle' : 'bundles'}${unknown}`,
  ];
  for (const { reference, why, bundles: needing } of missing.slice(0, most)) {
    const [first, ...others] = needing;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    lines.push(`  ${reference}: ${why} (needed by ${first}${more})`);
  }
  if (missing.length > most) lines.push(`  and ${missing.length - most} more references`);
  return lines;
}

/** What disconnected clusters can install: bundles, and charts and releases where some are selected. */
export type Installable = Pick<MirrorReport, 'ready' | 'charts' | 'releases'>;

/** Bundles are left out where there are none but charts or releases. */
export function installableLines({ ready, charts, releases }: Installable): string[] {
  const others = [
    ...(charts ? groupLines('chart', charts) : []),
    ...(releases ? groupLines('release', releases) : []),
  ];
  return ready.bundles === 0 && others.length > 0 ? others : [...readinessLines(ready), ...others];
}

/** Whether nothing is known to be missing of what disconnected clusters may install. */
export function isInstallable({ ready, charts, releases }: Installable): boolean {
  const isWhole = (groups: GroupReadiness | undefined): boolean => groups?.ready === groups?.total;
  return lacksNothing(ready) && isWhole(charts) && isWhole(releases);
}

/** Whether nothing is known to be missing of the bundles. */
export function lacksNothing({ ready, unchecked, bundles }: ReadinessReport): boolean {
  return ready + unchecked === bundles;
}

/** What is wrong with a plan, for those who show findings. */
export function planFindings(plan: MirrorPlan): Finding[] {
  const first: Location = { file: 'mapping.txt', line: 1, column: 1 };
  const unplaced = plan.unplaced.map(
    ({ written, why, location }): Finding => ({
      rule: 'mirror/reference',
      severity: 'error',
      message: written === '' ? why : `${JSON.stringify(written)} ${why}: it is not mirrored`,
      location: location ?? first,
      hint: 'reference the image as registry/repository@sha256:… in the bundle',
    }),
  );
  const collisions = plan.collisions.map(
    ({ destination, sources }): Finding => ({
      rule: 'mirror/collision',
      severity: 'warning',
      message: `${sources.join(' and ')} would share ${destination}: all but the first have another name`,
      location: first,
    }),
  );
  const nameless = plan.catalogs.filter(hasNoClusterCatalog).map(
    ({ destination }): Finding => ({
      rule: 'mirror/cluster-catalog',
      severity: 'warning',
      message: `${formatDestination(destination)} has no ClusterCatalog: the API allows 127 characters after the first colon`,
      location: first,
      hint: 'pass the digest of the index image with --digest, or use a shorter tag',
    }),
  );
  return [...unplaced, ...collisions, ...nameless];
}

/**
 * Reads the images of a `report.json`, and where its catalogs are to be; undefined when it is none. Catalogs of another form are
 * left out: for most callers, the images are all that counts.
 */
export function readReport(
  text: string,
): (Pick<MirrorReport, 'images'> & { readonly catalogs: readonly PlannedIndex[] }) | undefined {
  const report = parsedJson(text);
  if (!isObject(report)) return undefined;
  const { images, catalogs } = report;
  if (!Array.isArray(images) || !images.every(isReportedImage)) return undefined;
  return { images, catalogs: (Array.isArray(catalogs) ? catalogs : []).flatMap(plannedIndex) };
}

/** A catalog and the place of its index image. */
export type PlannedIndex = Pick<ReportedCatalog, 'reference' | 'destination'>;

/** A catalog of a report in a list; an empty list for a value of another form. */
function plannedIndex(value: unknown): PlannedIndex[] {
  const { reference, destination } = isObject(value) ? value : {};
  return typeof reference === 'string' && typeof destination === 'string' ? [{ reference, destination }] : [];
}

const ROLES: ReadonlySet<unknown> = new Set<ImageRole>(['index', 'bundle', 'related', 'additional', 'graph']);

/** Whether a value is an image of a report. */
function isReportedImage(image: unknown): image is ReportedImage {
  if (!isObject(image)) return false;
  const { source, destination, role, platforms = [] } = image;
  const isList = Array.isArray(platforms) && platforms.every((one) => typeof one === 'string');
  return typeof source === 'string' && typeof destination === 'string' && ROLES.has(role) && isList;
}
