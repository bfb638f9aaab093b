/**
 * What becomes of a whole cluster: each of its operators today, and after the platform's
 * next version.
 */
import { type Installed, shortName } from '../../catalog/fbc/edge.ts';
import {
  compareMinors,
  formatMinor,
  limitAllows,
  limitOf,
  type Minor,
  tryParseMinor,
} from '../../catalog/fbc/openshift.ts';
import { installedPath } from '../../catalog/olm/foresight/namespace-path.ts';
import { neighborPackages } from '../../catalog/olm/foresight/neighbors.ts';
import type { PathSummary } from '../../catalog/olm/foresight/upgrade-impact.ts';
import type { Olm, World } from '../../catalog/olm/foresight/world.ts';
import { PipelineError } from '../error.ts';
import type { ClusterInstallation } from './cluster.ts';

/** As JSON part of a public interface. */
export interface ClusterAudit {
  /** Names of the catalogs that the cluster has today, and after the platform's next version. */
  readonly today: readonly string[];
  readonly next: readonly string[];
  readonly prospects: readonly Prospect[];
  /** Operators that no catalog has, or that are not installed yet: `namespace/name (package)`. */
  readonly unknown: readonly string[];
}

export interface Prospect {
  readonly olm: Olm;
  readonly namespace: string;
  readonly name: string;
  readonly package: string;
  readonly channels: readonly string[];
  /** The version, or the bundle's name where that is unknown. */
  readonly installed: string;
  readonly today: PathSummary;
  /** Absent where there is no catalog for the platform's next version. */
  readonly next?: PathSummary;
  /** Whether what is installed keeps the platform from its next version. */
  readonly holdsBack: boolean;
}

/**
 * Checks what a cluster has installed.
 *
 * @param platform the cluster's version, such as `4.19`; the lowest of the catalogs without it
 * @throws PipelineError `usage` when there is no catalog for that version
 */
export function prospectsOf(
  installations: readonly ClusterInstallation[],
  { worlds, platform }: { readonly worlds: readonly World[]; readonly platform: string | undefined },
): ClusterAudit {
  const { today, next } = stagesOf(worlds, platform);
  const placed = installations.flatMap((installation) => {
    const { installed } = installation;
    const known = [...today, ...next].some(({ catalog }) => catalog.packages.has(installation.package));
    return installed && known ? [{ ...installation, installed }] : [];
  });
  const now = summariesOf(placed, today);
  // The update of the platform takes an operator to the catalog that follows its own.
  const moved = placed.map((one) => ({
    ...one,
    catalog: worldFor(one, today).following[0]?.name ?? one.catalog,
  }));
  const afterUpdate = summariesOf(moved, next);
  const to = next.find((world) => world.platform !== undefined)?.platform;
  return {
    today: today.map(({ name }) => name),
    next: next.map(({ name }) => name),
    prospects: placed.map((one, i) => ({
      olm: one.olm,
      namespace: one.namespace,
      name: one.name,
      package: one.package,
      channels: one.channels,
      installed: shortName(one.installed),
      today: now[i] as PathSummary,
      ...(next.length > 0 ? { next: afterUpdate[i] as PathSummary } : {}),
      // OLM says of what is installed now whether the platform may go on.
      holdsBack: to !== undefined && holdsBack(one, today, to),
    })),
    unknown: installations.filter((one) => !placed.some((other) => isSame(one, other))).map(placeText),
  };
}

/**
 * Whether two installations are one: names of Subscriptions are unique in a namespace, those of ClusterExtensions in a
 * cluster.
 */
function isSame(one: ClusterInstallation, other: ClusterInstallation): boolean {
  return one.olm === other.olm && one.name === other.name && one.namespace === other.namespace;
}

function placeText({ namespace, name, package: packageName }: ClusterInstallation): string {
  return `${namespace === '' ? '' : `${namespace}/`}${name} (${packageName})`;
}

interface Stages {
  readonly today: readonly World[];
  readonly next: readonly World[];
}

/**
 * The catalogs that a cluster has today, and those after the next update of the platform. A catalog that is not named
 * after a version is there in both.
 *
 * @throws PipelineError `usage` for a version that no catalog is for
 */
function stagesOf(worlds: readonly World[], platform: string | undefined): Stages {
  const always = worlds.filter((world) => world.platform === undefined);
  const minors = worlds.flatMap((world) => world.platform ?? []).sort(compareMinors);
  const wanted = platform === undefined ? minors[0] : tryParseMinor(platform);
  // Several catalogs may be of one version: each installation then says which it is from.
  const ofMinor = (minor: Minor | undefined): World[] =>
    worlds.filter((world) => minor && world.platform && compareMinors(world.platform, minor) === 0);
  const today = ofMinor(wanted);
  if (platform !== undefined && today.length === 0) {
    const known = [...new Set(minors.map(formatMinor))];
    throw new PipelineError('usage', `no catalog is for platform version ${JSON.stringify(platform)}`, {
      hint: `--platform ${known.join('|')}`,
    });
  }
  const next = ofMinor(minors.find((minor) => wanted && compareMinors(minor, wanted) > 0));
  return { today: [...always, ...today], next: next.length > 0 ? [...always, ...next] : [] };
}

type PlacedInstallation = ClusterInstallation & { readonly installed: Installed };

/** The upgrade of each operator. Under OLM v0, a failure stops all operators of its namespace. */
function summariesOf(installations: readonly PlacedInstallation[], worlds: readonly World[]): PathSummary[] {
  if (worlds.length === 0) return [];
  const own = installations.map((one) =>
    installedPath(worldFor(one, worlds), one, one.installed, besideOf(one, installations, worlds)),
  );
  return installations.map((one, i) => {
    const mine = own[i] as PathSummary;
    if (one.olm !== 'v0' || mine.kind === 'fails') return mine;
    // The first of several: each stops the namespace until it is repaired.
    const at = installations.findIndex(
      (other, j) => other.olm === 'v0' && other.namespace === one.namespace && own[j]?.kind === 'fails',
    );
    const culprit = installations[at];
    if (!culprit) return mine;
    const why = `OLM v0 resolves nothing in its namespace because of ${culprit.name}: ${own[at]?.why ?? ''}`;
    return { next: 'fails', kind: 'fails', end: '', arrives: false, why };
  });
}

/** Other operators from the same catalog in its namespace, which may block its upgrade: OLM v0 resolves them together. */
function besideOf(
  one: PlacedInstallation,
  installations: readonly PlacedInstallation[],
  worlds: readonly World[],
): PlacedInstallation[] {
  if (one.olm !== 'v0') return [];
  const world = worldFor(one, worlds);
  const neighbors = neighborPackages(world.foresight.scope, one.package);
  return installations.filter(
    (other) =>
      other.olm === 'v0' &&
      other.namespace === one.namespace &&
      neighbors.has(other.package) &&
      worldFor(other, worlds) === world,
  );
}

/** The subscribed catalog where one is called so, else the first that has the package; any if none has it. */
function worldFor({ package: name, catalog }: ClusterInstallation, worlds: readonly World[]): World {
  const having = worlds.filter((world) => world.catalog.packages.has(name));
  return (having.find((world) => world.name === catalog) ?? having[0] ?? worlds[0]) as World;
}

/**
 * Whether an installed bundle limits the platform to versions below `to`: then the cluster cannot be updated.
 */
function holdsBack(one: PlacedInstallation, worlds: readonly World[], to: Minor): boolean {
  const { package: name, installed } = one;
  // The subscribed catalog first: it no longer has every version that it had.
  const [bundle] = [worldFor(one, worlds), ...worlds].flatMap(
    ({ catalog }) => catalog.packages.get(name)?.bundles.get(installed.name) ?? [],
  );
  return bundle !== undefined && !limitAllows(limitOf(bundle.properties), to);
}
