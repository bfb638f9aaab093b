/**
 * The next step of OLM v0 for one operator that is alone in its namespace.
 */
import { edgeField, type Installed } from '../../fbc/edge.ts';
import type { Entry, Package } from '../../fbc/model.ts';
import { namingOf } from '../../fbc/naming.ts';
import { onceFor } from '../../go/once.ts';
import { formatVersion } from '../../version/version.ts';
import { withoutBundle } from './extension.ts';
import {
  followersOf as allFollowersOf,
  type FirstFollower,
  firstFollower,
  firstOtherFollower,
} from './followers.ts';
import { isInstallable } from './installable.ts';
import { resolveNamespace } from './namespace.ts';
import { type Fails, type Outcome, type Reason, type ReasonCode, staysBecause } from './outcome.ts';
import { REQUIRING } from './requirement.ts';
import {
  disorderText,
  type Lane,
  laneOf,
  type Node,
  nodesNamed,
  type Scope,
  type ScopeCatalog,
} from './snapshot.ts';
import { unreadableFrom } from './unreadable.ts';

/** The subscription of an operator: one channel of one package. */
export interface Place {
  readonly package: string;
  readonly channel: string;
}

/**
 * The next bundle of each installation of a place under OLM v0. What its successors depend on is looked
 * for in the whole scope, as if nothing else were installed.
 */
export function nextV0(scope: Scope, source: ScopeCatalog, place: Place): (installed: Installed) => Outcome {
  const ofPackage = source.catalog.packages.get(place.package);
  const lane = ofPackage && laneOf(ofPackage, place.channel);
  if (!lane || lane.nodes.length === 0) {
    const failure = failsWithoutPlace(place, ofPackage);
    return () => failure;
  }
  const isNeedy = hasRequirements(lane);
  // All catalogs of the clusters are known, so the whole resolver decides.
  if (isNeedy && !scope.assumesDependencies)
    return (installed) => resolvedOutcome(scope, source, { lane, installed });
  if (lane.candidates.kind !== 'ordered') {
    const failure = failsWith('no-order', disorderText(lane.candidates, lane.channel, lane.package));
    return () => failure;
  }
  const all = offeredNodes(lane);
  // Unknown catalogs may have what is required. Leave out only what no catalog can make installable.
  const nodes = isNeedy ? all.filter((node) => isInstallable(scope, source, node)) : all;
  const first = nodes.length === all.length ? followersOf(lane) : followersAt(nodes, lane);
  return (installed) => {
    // A requirement that OLM cannot read ends the resolution, even if another bundle would be taken.
    const unreadable = isNeedy ? unreadableFrom(scope, candidatesFor(lane, installed)) : undefined;
    if (unreadable) return failsWith('bad-dependency', unreadable.text, unreadable.bundle);
    const node = nodes[first(installed)];
    if (!node || node.name === installed.name) return staysBecause(() => stayReason(lane, installed));
    return upgradeTo(node, installed);
  };
}

/** That nothing can be installed from a channel, in OLM's words: the channel or the whole package has no bundle. */
function failsWithoutPlace({ package: name, channel }: Place, ofPackage: Package | undefined): Fails {
  return ofPackage && ofPackage.bundles.size > 0
    ? failsWith('missing', `no operators found in channel ${channel} of package ${name}`)
    : failsWith('missing', `no operators found in package ${name}`);
}

function failsWith(code: ReasonCode, text: string, bundle?: string): Fails {
  return { kind: 'fails', reason: { code, text, ...(bundle === undefined ? {} : { bundle }) } };
}

/** Whether any bundle of a lane needs others. */
export const hasRequirements: (lane: Lane) => boolean = onceFor(({ nodes }) =>
  nodes.some(({ offer: { properties } }) => properties.some(({ type }) => REQUIRING.has(type))),
);

/** Whether OLM v0 never installs a bundle: it is deprecated, or conflicts with itself over a kind of object. */
function isProhibited({ offer: { gvks, properties } }: Node): boolean {
  return properties.some(({ type }) => type === 'olm.deprecated') || new Set(gvks).size < gvks.length;
}

const followersOf = onceFor((lane: Lane): FirstFollower => followersAt(offeredNodes(lane), lane));

/** Finds the first of these nodes that follows an installation. */
function followersAt(nodes: readonly Offered[], { entries }: Lane): FirstFollower {
  return firstFollower(
    nodes.map(({ entry }) => entry),
    [entries],
  );
}

type Offered = Node & { readonly entry: Entry };

/** The nodes that OLM v0 offers and may install, those closest to the head first. */
const offeredNodes = onceFor((lane: Lane): readonly Offered[] =>
  inOrder(lane).filter((node) => !isProhibited(node)),
);

/** The nodes that OLM v0 offers. */
function inOrder({ candidates }: Lane): Offered[] {
  const nodes = candidates.kind === 'ordered' ? candidates.entries : [];
  return nodes.filter((node): node is Offered => node.entry !== undefined);
}

const candidatePositions = new WeakMap<Lane, (installed: Installed) => readonly number[]>();

/** The bundles that the resolver considers for an installation, prohibited ones among them. */
function candidatesFor(lane: Lane, installed: Installed): readonly Node[] {
  const nodes = inOrder(lane);
  const positions = candidatePositions.get(lane) ?? followersAmong(nodes, lane);
  candidatePositions.set(lane, positions);
  return positions(installed).flatMap((position) => nodes[position] ?? []);
}

function upgradeTo({ name, version, channel, entry }: Node, installed: Installed): Outcome {
  const edge = (entry && edgeField(entry, installed)) ?? 'none';
  return { kind: 'upgrade', to: { name, version, channel }, edge };
}

/**
 * What the whole resolver does with the installation: what follows it may require, or exclude, other bundles. Its own
 * requirements are left out, because nothing that meets them is installed here.
 */
function resolvedOutcome(
  scope: Scope,
  source: ScopeCatalog,
  { lane, installed }: { lane: Lane; installed: Installed },
): Outcome {
  const { name, version } = installed;
  const own = { packageName: lane.package, ...(version ? { version: formatVersion(version) } : {}) };
  const resolution = resolveNamespace(scope, {
    name: 'operators',
    subscriptions: [
      {
        name: lane.package,
        package: lane.package,
        channel: lane.channel,
        catalog: source.name,
        startingCSV: '',
        installedCSV: name,
      },
    ],
    installed: [{ name, version, properties: [{ type: 'olm.package', value: own }] }],
  });
  if (resolution.kind === 'fails') {
    const { code, text } = resolution.reason;
    return code === 'bad-dependency'
      ? failsWith(code, text, unreadableFrom(scope, candidatesFor(lane, installed))?.bundle)
      : resolution;
  }
  const step = resolution.steps.find(({ subscriptions }) => subscriptions.length > 0);
  const [node] = step ? nodesNamed(lane, step.bundle) : [];
  return node ? upgradeTo(node, installed) : staysBecause(() => stayReason(lane, installed));
}

/** Data for explaining why installations stay, computed once for a lane. */
interface Survey {
  /** The nodes that OLM v0 offers. */
  readonly nodes: readonly Offered[];
  readonly isFollowed: (installed: Installed) => boolean;
  /** Positions among these nodes, and among all of the lane. */
  readonly nextOffered: FirstFollower;
  readonly nextOfAll: FirstFollower;
}

const surveyOf = onceFor((lane: Lane): Survey => {
  const nodes = inOrder(lane);
  const first = firstFollower(
    nodes.map(({ entry }) => entry),
    [lane.entries],
  );
  const nextAmong = (some: readonly Node[]): FirstFollower =>
    firstOtherFollower(
      some.map(({ entry }) => entry),
      [lane.entries],
    );
  return {
    nodes,
    isFollowed: (installed) => first(installed) >= 0,
    nextOffered: nextAmong(nodes),
    nextOfAll: nextAmong(lane.nodes),
  };
});

/** Gives the positions among nodes of a lane of those that follow an installation. */
function followersAmong(
  nodes: readonly Node[],
  { entries }: Lane,
): (installed: Installed) => readonly number[] {
  return allFollowersOf(
    nodes.map(({ entry }) => entry),
    [entries],
  );
}

/** Why OLM v0 offers an installation no upgrade. The first reason that applies counts. */
function stayReason(lane: Lane, installed: Installed): Reason {
  const { nodes, isFollowed, nextOffered, nextOfAll } = surveyOf(lane);
  const absent = lane.withoutBundle.find((entry) => edgeField(entry, installed));
  if (absent && !isFollowed(installed)) return withoutBundle(absent);
  if (nodes[0]?.name === installed.name) {
    return { code: 'newest', text: `it is the head of channel ${lane.channel}` };
  }
  const blocked = nodes[nextOffered(installed)];
  if (blocked) {
    return {
      code: 'successor-blocked',
      text: `OLM v0 cannot install the next bundle, ${blocked.name}: ${whyBlocked(blocked)}`,
    };
  }
  const skipped = lane.nodes[nextOfAll(installed)];
  if (skipped) return { code: 'successor-skipped', text: skippedText(lane, skipped) };
  return { code: 'no-edge', text: `no entry of channel ${lane.channel} replaces or skips it` };
}

/** Why OLM v0 cannot install a bundle, as far as its properties tell. */
function whyBlocked(node: Node): string {
  const { properties } = node.offer;
  if (properties.some(({ type }) => type === 'olm.deprecated')) return 'it has the property olm.deprecated';
  if (isProhibited(node)) return 'it declares a kind of object twice and so conflicts with itself';
  const types = new Set(properties.map(({ type }) => type).filter((type) => REQUIRING.has(type)));
  return types.size > 0 ? `nothing satisfies its ${[...types].join(' and ')}` : 'it conflicts with itself';
}

/** Why OLM v0 never offers the next bundle: an entry skips it. Names the entry if OLM v0 knows it. */
function skippedText(lane: Lane, skipped: Node): string {
  const skipper = namingOf(lane.entries)
    .skipping(skipped.name)
    .map((position) => lane.entries[position])
    .find((entry) => entry && nodesNamed(lane, entry.name).length > 0);
  const both = skipper?.replaces === skipped.name ? 'both replaces and skips' : 'skips';
  return `${skipper?.name ?? 'another entry'} ${both} the next bundle, ${skipped.name}, so OLM v0 never offers it`;
}
