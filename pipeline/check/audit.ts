/**
 * The audit of catalogs: opm's rules and ours, what clusters can reach from
 * every version, and what disconnected clusters will miss. Nothing is compared with
 * anything: the first command to run on an unknown catalog.
 */

import type { Catalog } from '../../catalog/fbc/model.ts';
import { minorOfCatalog } from '../../catalog/fbc/openshift.ts';
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import { compareText } from '../../catalog/go/text.ts';
import type { FleetReport } from '../../catalog/olm/fleet/count.ts';
import { installationsOf, withoutChannels } from '../../catalog/olm/foresight/installation.ts';
import {
  type CrdsOf,
  type ManifestsOf,
  type Olm,
  type PublishedBundle,
  type World,
  worldOf,
} from '../../catalog/olm/foresight/world.ts';
import { tryParseReference } from '../../catalog/reference.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { ownSeverity, runForesight, runRules, withSeverities } from '../../catalog/rules/rule.ts';
import type { ReadCatalog } from '../catalogs/read-catalogs.ts';
import type { ClusterAudit } from './prospects.ts';
import type { HistoryAudit } from './rehearsal/history.ts';
import { orderOf } from './world/order.ts';

interface AuditRequest {
  readonly catalogs: readonly ReadCatalog[];
  readonly olm: readonly Olm[];
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
  /** Packages to check; all without it. */
  readonly packages?: ReadonlySet<string>;
  /** All published versions, by catalog and package; absent if unknown. */
  readonly published?: ReadonlyMap<string, ReadonlyMap<string, readonly PublishedBundle[]>>;
  /** CRDs of bundles whose manifests the catalogs do not hold. */
  readonly crds?: CrdsOf;
  /** Manifests of the same bundles. */
  readonly manifests?: ManifestsOf;
}

/** As JSON a public interface. */
export interface AuditReport {
  readonly apiVersion: 'portolan/v1alpha1';
  readonly kind: 'AuditReport';
  readonly catalogs: readonly CatalogAudit[];
  /** The worst first; what several catalogs have alike is one finding, at its place in the first of them. */
  readonly findings: readonly Finding[];
  /** The upgrades of the cluster in the request. */
  readonly cluster?: ClusterAudit;
  /** The upgrades of the fleet in the request, in numbers of clusters. */
  readonly fleet?: FleetReport;
  /** The effect of past merges, if the request asks for it. */
  readonly history?: HistoryAudit;
}

export interface CatalogAudit {
  readonly name: string;
  readonly packages: number;
  readonly bundles: number;
  /** Whether `opm serve` starts with it: one invalid package keeps all of them from clusters. */
  readonly served: boolean;
  readonly reach: readonly Reach[];
  readonly images: ImageCount;
}

/** The number of installable versions, and how many have an upgrade path to a head. */
interface Reach {
  readonly olm: Olm;
  /** Under OLM v0 one for each channel and version, under OLM v1 one for each version. */
  readonly installations: number;
  readonly arrive: number;
}

/** Different references of all bundles. */
interface ImageCount {
  readonly references: number;
  readonly pinned: number;
}

export interface Audited {
  readonly report: AuditReport;
  /** In the order of the request. */
  readonly worlds: readonly World[];
}

/** Audits catalogs. Those of one stage that are named after versions of the platform follow each other. */
export async function auditCatalogs(request: AuditRequest): Promise<Audited> {
  const worlds = await worldsOf(request);
  const perCatalog = request.catalogs.map((read, i) => auditedCatalog(read, worlds[i] as World));
  return {
    worlds,
    report: {
      apiVersion: 'portolan/v1alpha1',
      kind: 'AuditReport',
      catalogs: perCatalog.map(({ about }) => about),
      findings: joinedFindings(
        perCatalog.map(({ findings }, i) => ({ findings, read: request.catalogs[i] as ReadCatalog })),
      ),
    },
  };
}

/** The worlds of catalogs, made from the newest platform down: each has those that its clusters go on to, made before it. */
export async function worldsOf({
  catalogs,
  olm,
  today,
  packages,
  published,
  crds,
  manifests,
}: AuditRequest): Promise<World[]> {
  const order = orderOf(
    [],
    catalogs.map(({ name }) => name),
  );
  const worlds = new Map<ReadCatalog, World>();
  for (const read of [...catalogs].sort((a, b) => order.compare(b.name, a.name))) {
    const { name, catalog } = read;
    const ever = published?.get(name);
    const platform = minorOfCatalog(name);
    const following = order
      .after(name, Number.POSITIVE_INFINITY)
      .flatMap((next) => catalogs.filter((other) => other.name === next))
      .flatMap((next) => worlds.get(next) ?? []);
    const world = await worldOf({
      name,
      catalog,
      olm,
      following,
      asOf: today,
      ...(packages ? { packages } : {}),
      ...(crds ? { crds } : {}),
      ...(manifests ? { manifests } : {}),
      ...(ever ? { published: ever } : {}),
      ...(platform ? { platform } : {}),
    });
    worlds.set(read, world);
  }
  return catalogs.map((read) => worlds.get(read) as World);
}

/** The findings of one catalog, and its numbers. */
function auditedCatalog(
  read: ReadCatalog,
  world: World,
): { findings: readonly Finding[]; about: CatalogAudit } {
  const { catalog, unread, name } = read;
  const ofCatalog = [...withSeverities(unread, RULES, ownSeverity), ...runRules(catalog, RULES)];
  // An error of a rule that opm has as well keeps `opm serve` from starting.
  const opm = new Set(RULES.filter((rule) => rule.opm !== undefined).map(({ id }) => id));
  return {
    findings: [...ofCatalog, ...runForesight(world, RULES)],
    about: {
      name,
      packages: catalog.packages.size,
      bundles: catalog.blobs.bundles.length,
      served: !ofCatalog.some(({ rule, severity }) => severity === 'error' && opm.has(rule)),
      reach: [...world.olm].map((olm) => reachOf(world, olm)),
      images: imagesOf(catalog),
    },
  };
}

/**
 * How many installations there can be under an OLM, and how many of them reach a head. Under OLM v1 no channel is selected: an
 * extension may use all of them.
 */
function reachOf(world: World, olm: Olm): Reach {
  const arrivals = [...world.catalog.packages.keys()].flatMap((name) => {
    const installations = installationsOf(world, name);
    return olm === 'v0'
      ? installations.map(
          ({ channel, installed }) => world.foresight.v0({ package: name, channel }, installed).arrives,
        )
      : withoutChannels(installations).map(
          (installed) => world.foresight.v1({ package: name, channels: [] }, installed).arrives,
        );
  });
  return { olm, installations: arrivals.length, arrive: arrivals.filter((arrives) => arrives).length };
}

/** How many different references the bundles have, and how many of these are pinned by digest. */
function imagesOf({ blobs }: Catalog): ImageCount {
  const references = new Set(
    blobs.bundles
      .flatMap(({ image, relatedImages }) => [image, ...relatedImages.map((related) => related.image)])
      .filter((reference) => reference !== ''),
  );
  const pinned = [...references].filter((reference) => tryParseReference(reference)?.kind === 'digest');
  return { references: references.size, pinned: pinned.length };
}

/**
 * Joins findings that several catalogs share, and sorts them: the most serious first, then those that affect
 * most versions and catalogs. Lines may differ from catalog to catalog, so the first finding with a message in one catalog
 * stands for the first in the others, the second for the second.
 */
function joinedFindings(
  parts: readonly { readonly findings: readonly Finding[]; readonly read: ReadCatalog }[],
): Finding[] {
  const joined = new Map<string, { finding: Finding; catalogs: string[] }>();
  for (const { findings, read } of parts) {
    const counts = new Map<string, number>();
    for (const finding of findings) {
      // A finding about a catalog's name is the same in another catalog.
      const message = finding.message.replaceAll(read.name, '*');
      const alike = JSON.stringify([
        finding.rule,
        finding.severity,
        finding.package,
        finding.channel,
        message,
      ]);
      const count = counts.get(alike) ?? 0;
      counts.set(alike, count + 1);
      const key = `${count} ${alike}`;
      const known = joined.get(key);
      if (known) {
        known.catalogs.push(read.name);
        continue;
      }
      const location = { ...finding.location, file: `${read.prefix}${finding.location.file}` };
      joined.set(key, { finding: { ...finding, location }, catalogs: [read.name] });
    }
  }
  return [...joined.values()].map(({ finding, catalogs }) => ({ ...finding, catalogs })).sort(compareImpact);
}

/**
 * What comes first among findings of one severity: a catalog that is not served, then who is stuck today, then
 * who will be with the platform's next version, then what cannot be installed, then all else about graphs, then
 * images, and last what only takes long.
 */
const URGENCY: readonly RegExp[] = [
  /^(?:fbc|package|channel|entry|bundle|deprecation)\//,
  /^graph\/(?:stranded-|stuck-|unreadable-requirement|automatic-downgrade|downgrade-edge|semver-order-trap|ambiguous-versions)/,
  /^graph\/(?:strands-on-platform-upgrade|max-openshift-version)$/,
  /^graph\/(?:unsatisfied-dependency|repeated-gvk|olmv1-unsupported|crd-unsafe-edge)$/,
  /^graph\/(?!path-length)/,
  /^image\//,
];

/** Sorts findings: by severity, by urgency of the rule, then by how many versions and catalogs are affected. */
function compareImpact(a: Finding, b: Finding): number {
  if (a.severity !== b.severity) return compareFindings(a, b);
  const rank = ({ rule }: Finding): number => {
    const found = URGENCY.findIndex((pattern) => pattern.test(rule));
    return found < 0 ? URGENCY.length : found;
  };
  const touched = ({ installed = [], catalogs = [] }: Finding): number =>
    Math.max(1, installed.length) * Math.max(1, catalogs.length);
  return (
    rank(a) - rank(b) ||
    touched(b) - touched(a) ||
    compareText(a.package ?? '', b.package ?? '') ||
    compareFindings(a, b)
  );
}
