/**
 * What OLM v0 does with several operators in one namespace, upgrade by upgrade: it resolves them together, so each of
 * them may keep another one from an upgrade.
 */
import { type Installed, installedOf, shortName } from '../../fbc/edge.ts';
import type { Property } from '../../fbc/model.ts';
import { formatVersion } from '../../version/version.ts';
import { type InstallStep, resolveNamespace } from '../resolve/namespace.ts';
import type { Place } from '../resolve/next-v0.ts';
import type { ExtensionSpec } from '../resolve/next-v1.ts';
import type { PlacedTarget, Reason } from '../resolve/outcome.ts';
import { REQUIRING, RequirementError } from '../resolve/requirement.ts';
import { type Offer, offerOfInstalled, type Scope, type ScopeCatalog } from '../resolve/snapshot.ts';
import { requirementIn } from '../resolve/unreadable.ts';
import { detailedPathV1 } from './detailed-path.ts';
import { type PathSummary, summarizePath } from './upgrade-impact.ts';
import type { Olm, World } from './world.ts';

/** An operator in the namespace. */
export interface Member {
  /** The catalog that it is subscribed to. */
  readonly source: ScopeCatalog;
  readonly place: Place;
  readonly installed: Installed;
}

interface NamespacePath {
  /** The upgrades of the first operator. */
  readonly steps: readonly PlacedTarget[];
  /** Where it ends. */
  readonly end: Installed;
  /** Why nothing in the namespace is resolved any more; undefined where nothing complains. */
  readonly reason: Reason | undefined;
}

/** What OLM does in a namespace until nothing changes. */
interface NamespaceUpgrades {
  /** In their order. */
  readonly steps: readonly NamespaceStep[];
  /** All that is installed at the end: those of the beginning in their order, then what OLM has added. */
  readonly members: readonly Member[];
  readonly reason: Reason | undefined;
}

/** An upgrade, or the first installation of what others require. */
interface NamespaceStep {
  readonly package: string;
  readonly to: PlacedTarget;
  readonly isNew: boolean;
}

/** Most upgrades of a namespace that are followed: those of one that goes in a circle have no end. */
const MOST = 200;

/** The upgrade path of the first of some operators. */
export function namespacePath(scope: Scope, members: readonly Member[]): NamespacePath {
  const [first] = members;
  const { steps, members: last, reason } = namespaceUpgrades(scope, members, { addsRequired: false });
  return {
    steps: steps.flatMap(({ package: name, to }) => (name === first?.place.package ? [to] : [])),
    end: last[0]?.installed ?? { name: '', version: undefined },
    reason,
  };
}

/**
 * What OLM v0 does with the operators of a namespace.
 *
 * @param addsRequired whether what OLM installs because others require it is followed, too
 */
export function namespaceUpgrades(
  scope: Scope,
  members: readonly Member[],
  { addsRequired }: { readonly addsRequired: boolean },
): NamespaceUpgrades {
  const steps: NamespaceStep[] = [];
  let now = members;
  for (let i = 0; i < MOST; i++) {
    const resolution = resolveNamespace(scope, {
      // OLM's own namespace for operators. No catalog is in it, so none is preferred.
      name: 'operators',
      subscriptions: now.map(({ source, place, installed }) => ({
        name: place.package,
        ...place,
        catalog: source.name,
        startingCSV: '',
        installedCSV: installed.name,
      })),
      installed: now.map((one) => installedAmong(scope, one, now)),
    });
    if (resolution.kind === 'fails') return { steps, members: now, reason: resolution.reason };
    const next = now.map((one) => afterSteps(one, resolution.steps));
    const added = addsRequired ? resolution.steps.flatMap((step) => addedBy(scope, step)) : [];
    const changed = next.filter((one, position) => one !== now[position]);
    if (changed.length + added.length === 0) break;
    for (const one of added) steps.push(stepTo(one, true));
    for (const one of changed) steps.push(stepTo(one, false));
    now = [...next, ...added];
  }
  return { steps, members: now, reason: undefined };
}

function stepTo({ source, place, installed }: Member, isNew: boolean): NamespaceStep {
  return {
    package: place.package,
    to: { ...installed, catalog: source.name, channel: place.channel },
    isNew,
  };
}

/** The operator of a step, if it is new: others require it, and OLM creates a Subscription for it. */
function addedBy(
  { catalogs }: Scope,
  step: Pick<InstallStep, 'bundle' | 'catalog' | 'package' | 'channel' | 'subscriptions'>,
): Member[] {
  if (step.subscriptions.length > 0) return [];
  const source = catalogs.find(({ name }) => name === step.catalog);
  const bundle = source?.catalog.packages.get(step.package)?.bundles.get(step.bundle);
  if (!source || !bundle) return [];
  return [
    { source, place: { package: step.package, channel: step.channel }, installed: installedOf(bundle) },
  ];
}

/**
 * An operator with the bundle that a step of its subscription installs; unchanged if no step is for it. A subscription is
 * named after its package, see `namespaceUpgrades`.
 */
function afterSteps(
  one: Member,
  steps: readonly { readonly bundle: string; readonly subscriptions: readonly string[] }[],
): Member {
  const { source, place, installed } = one;
  const step = steps.find(({ subscriptions }) => subscriptions.includes(place.package));
  const bundle = step && source.catalog.packages.get(place.package)?.bundles.get(step.bundle);
  return bundle && bundle.name !== installed.name ? { source, place, installed: installedOf(bundle) } : one;
}

/**
 * What the resolver must know of an installed operator. Only those requirements count which the other operators meet: the
 * cluster has met the rest as well, by something that is not known here.
 */
function installedAmong(
  scope: Scope,
  { source, place, installed }: Member,
  all: readonly Member[],
): {
  readonly name: string;
  readonly version: Installed['version'];
  readonly properties: readonly Property[];
} {
  const { name, version } = installed;
  const bundle = source.catalog.packages.get(place.package)?.bundles.get(name);
  const own = { packageName: place.package, ...(version ? { version: formatVersion(version) } : {}) };
  const others = all.filter((one) => one.place.package !== place.package).map(offerOfMember);
  // Of a bundle that the catalog does not have, only package and version are known.
  const properties = (bundle?.properties ?? [{ type: 'olm.package', value: own }]).filter(
    (property) => !REQUIRING.has(property.type) || isMetBy(scope, property, others),
  );
  return { name, version, properties };
}

/** Whether one of the others meets a requirement. */
function isMetBy(scope: Scope, property: Property, others: readonly Offer[]): boolean {
  try {
    const { holds } = requirementIn(scope, property);
    return others.some(holds);
  } catch (error) {
    // No bundle meets a requirement that OLM cannot read.
    if (error instanceof RequirementError) return false;
    throw error;
  }
}

/** What an operator offers to the others of its namespace. */
export function offerOfMember({ source, place, installed }: Member): Offer {
  return offerOfInstalled(source.catalog.packages.get(place.package), place.package, installed);
}

// The upgrade path of what a cluster has installed, under either OLM.

/** What a Subscription or a ClusterExtension asks for. */
interface SubscriptionSpec {
  readonly olm: Olm;
  readonly package: string;
  /** Under OLM v0 one or none; none for the default channel, or for all channels under OLM v1. */
  readonly channels: readonly string[];
  /** The range of versions that a ClusterExtension asks for, or empty. */
  readonly range: string;
}

/**
 * The upgrade path of an operator of a real cluster.
 *
 * @param beside what else is installed in the namespace under OLM v0
 */
export function installedPath(
  world: World,
  { olm, package: name, channels, range }: SubscriptionSpec,
  installed: Installed,
  beside: readonly OperatorBeside[] = [],
): PathSummary {
  const { foresight } = world;
  if (olm === 'v0') {
    const place = placeOf(world, { package: name, channels });
    const alone = summarizePath(foresight.v0(place, installed));
    return beside.length === 0 ? alone : pathBeside(world, { place, installed, alone }, beside);
  }
  if (range === '') return summarizePath(foresight.v1({ package: name, channels }, installed));
  return rangedPath(foresight.scope, { package: name, channels, range }, installed);
}

/** Another operator of the same namespace. */
export interface OperatorBeside extends Pick<SubscriptionSpec, 'package' | 'channels'> {
  readonly installed: Installed;
}

function placeOf(
  { catalog }: World,
  { package: name, channels }: Pick<SubscriptionSpec, 'package' | 'channels'>,
): Place {
  return { package: name, channel: channels[0] ?? catalog.packages.get(name)?.defaultChannel ?? '' };
}

/** The upgrade path of an operator: the one that it has alone, unless the others in its namespace block it. */
function pathBeside(
  world: World,
  { place, installed, alone }: { place: Place; installed: Installed; alone: PathSummary },
  beside: readonly OperatorBeside[],
): PathSummary {
  const { scope, source } = world.foresight;
  const others = beside.map((one) => ({ source, place: placeOf(world, one), installed: one.installed }));
  const { steps, end, reason } = namespacePath(scope, [{ source, place, installed }, ...others]);
  if (alone.kind !== 'upgrade' || shortName(end) === alone.end) return alone;
  const [first] = steps;
  const kind = first ? 'upgrade' : reason ? 'fails' : 'stays';
  const names = beside.map((one) => `${one.package} ${shortName(one.installed)}`).join(', ');
  return {
    next: first ? shortName(first) : kind,
    kind,
    end: first ? shortName(end) : '',
    arrives: false,
    why: reason?.text ?? `${names} in the same namespace prevents the next upgrade`,
  };
}

/** The upgrade path of an extension with a range. It arrives where the range ends it, because the user wants that. */
function rangedPath(scope: Scope, spec: ExtensionSpec, installed: Installed): PathSummary {
  const { steps, last } = detailedPathV1(scope, spec, installed);
  const [first, end] = [steps[0]?.to, steps.at(-1)?.to];
  const kind = first ? 'upgrade' : last.kind === 'fails' ? 'fails' : 'stays';
  return {
    next: first ? shortName(first) : kind,
    kind,
    end: end ? shortName(end) : '',
    arrives: last.kind === 'stays',
    why: last.kind === 'circle' ? 'the upgrade path goes in a circle' : last.reason.text,
  };
}
