/** Plans the channels of a suggested upgrade graph, one by one; nothing is tried with the resolvers here. */
import { edgeField, type Installed } from '../../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../../fbc/model.ts';
import { groupedBy } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import { quoted } from '../../names.ts';
import { Undecided } from '../../undecided.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import type { World } from '../foresight/world.ts';
import {
  type ChannelMembers,
  channelMembers,
  type Followers,
  followersAmong,
  type MayUpgrade,
  upgradesOfToday,
} from './channel-members.ts';
import { OrderError, type Ordered, orderedPlaces } from './places.ts';
import { type GraphPolicy, skipsNoStop, stopsAmong } from './policy.ts';
import type { SearchBudget } from './shortest-chain.ts';
import { type Place, type SuggestedChannel, suggestedChannel } from './suggested-channel.ts';

interface KnownChannel extends ChannelMembers {
  /** The versions that can be installed from it, in order; or why it has no order. */
  readonly order: Ordered | OrderError;
  /** Today's entries that follow something installed: of this channel, of all channels where it is new. */
  readonly followed: Followers;
}

/** Whether an upgrade skips over no stop: a version that every upgrade from below it must go to first. */
type NoStop = (from: Version, to: Version) => boolean;

/** Why a channel is not planned. */
const TOO_MANY = 'it has too many versions to compare all pairs';

export class ChannelPlanner {
  /** Names of the entries of all channels that follow something installed today. */
  readonly #followedAnywhere: Followers;
  readonly #entries: ReadonlyMap<string, readonly Entry[]>;
  readonly #package: Package;
  readonly #policy: GraphPolicy;
  readonly #channels: readonly KnownChannel[];
  readonly #stops: readonly Version[];

  readonly #budget: SearchBudget;

  /** @param budget what the chains of all channels may cost to find */
  constructor(world: World, ofPackage: Package, policy: GraphPolicy, budget: SearchBudget) {
    this.#budget = budget;
    this.#package = ofPackage;
    this.#policy = policy;
    const entries = [...ofPackage.channels.values()].flatMap((channel) => channel.entries);
    this.#followedAnywhere = followersAmong(entries);
    this.#entries = groupedBy(entries, ({ name }) => name);
    const open = [...ofPackage.bundles.values()].filter(({ name }) => !policy.avoid.has(name));
    this.#stops = stopsAmong(versionsOf(open), policy);
    this.#channels = channelMembers(ofPackage, policy).map((channel) => ({
      ...channel,
      order: this.#orderOf(channel, world),
      followed: channel.today ? followersAmong(channel.today.entries) : this.#followedAnywhere,
    }));
  }

  /** The suggested channels. @param required names of bundles that must stay installable */
  plans(required: ReadonlySet<string>): SuggestedChannel[] {
    return this.#channels.map((channel) => {
      const { name, order } = channel;
      return order instanceof OrderError
        ? this.asToday(name, order.message)
        : this.#plan(channel, order, required);
    });
  }

  /** Whether an entry of any channel follows something installed today. */
  follows(installed: Installed, name: string): boolean {
    return (this.#entries.get(name) ?? []).some((entry) => edgeField(entry, installed) !== undefined);
  }

  /** Today's channel as it is, with the reason why it stays. */
  asToday(name: string, why: string): SuggestedChannel {
    const entries = this.#package.channels.get(name)?.entries ?? [];
    return { name, entries, today: entries.length, why };
  }

  /** The versions that clusters may have installed from a channel. */
  installedIn(name: string): Installed[] {
    const { bundles } = this.#package;
    const channel = this.#channels.find((one) => one.name === name);
    if (!channel) return [];
    const { members, order } = channel;
    if (order instanceof OrderError)
      return members.map((bundle) => ({ name: bundle, version: bundles.get(bundle)?.version }));
    return [...order.places, ...order.above].map((place) => ({
      name: place.name,
      version: (bundles.get(place.name) ?? place).version,
    }));
  }

  /**
   * The places of a channel in order, and what is above its head.
   *
   * @throws Undecided for a new channel with too many versions
   */
  #orderOf({ name, members, head, today }: ChannelMembers, world: World): Ordered | OrderError {
    this.#budget.pairs -= members.length * this.#package.bundles.size;
    if (this.#budget.pairs < 0) {
      // A channel of today stays as it is; a new one has nothing to fall back to.
      if (today) return new OrderError(TOO_MANY);
      throw new Undecided(`the upgrades of package ${quoted(this.#package.name)}`, TOO_MANY);
    }
    const published = (world.published.get(this.#package.name) ?? [])
      .filter((one) => one.channel === name)
      .map((one) => ({ name: one.name, version: one.version }));
    try {
      return orderedPlaces({
        ofPackage: this.#package,
        names: members,
        channel: today,
        published,
        head,
        isCandidate: (bundle) => this.#isCandidate(bundle, today),
      });
    } catch (error) {
      if (error instanceof OrderError) return error;
      throw error;
    }
  }

  /** Whether a bundle can be an upgrade: both resolvers accept it, and it is not withdrawn. */
  #isCandidate({ name, properties }: Bundle, channel: Channel | undefined): boolean {
    return (
      !this.#policy.avoid.has(name) &&
      !this.#package.deprecatedBundles.has(name) &&
      !properties.some(({ type }) => type === 'olm.deprecated') &&
      // An entry that skips what it replaces is a mistake; what others skip is withdrawn.
      !(channel && withdrawnIn(channel).has(name))
    );
  }

  /**
   * The shortest channel in which every installation gets an upgrade, by the policy; the channel of today, with the
   * reason, if there is none.
   */
  #plan(
    { name, members, head, today, followed }: KnownChannel,
    { places, above }: Ordered,
    required: ReadonlySet<string>,
  ): SuggestedChannel {
    const { keep } = this.#policy;
    const keepsStops = this.#policy.stops === 'today';
    const may = keepsStops ? upgradesOfToday(places, followed) : () => true;
    const own = places.filter(({ isCandidate }) => isCandidate);
    const stops = stopsAmong(versionsOf(own), this.#policy);
    const noStop = skipsNoStop(stops);
    const entries = new Map((today?.entries ?? []).map((entry) => [entry.name, entry]));
    const headEntry = entries.get(head);
    // What is newer than the head and gets down to it today must still do so.
    const ledDown = headEntry
      ? above.filter((one) => edgeField(headEntry, one) !== undefined).map((one) => one.name)
      : [];
    const known = new Set([...places.map((place) => place.name), ...ledDown]);
    const beyond = members.find((one) => !known.has(one) && !this.#policy.avoid.has(one));
    if (keep === 'all' && beyond !== undefined)
      return this.asToday(name, `the entry ${beyond} is newer than the head`);
    const result = suggestedChannel({
      places,
      ledDown,
      required: new Set([
        ...required,
        ...this.#supported(places),
        ...atStops(own, stops),
        ...(keep === 'offered' ? members : []),
      ]),
      listed: keep === 'needed' ? [] : members.filter((one) => known.has(one)),
      // A version that is unknown cannot be compared with stops.
      may: (from, to) => may(from, to) && (!from.version || !to.version || noStop(from.version, to.version)),
      mustNot: (to) => this.#mustNot(to, { places, may, noStop }),
      today: (one) => (keepsStops ? entries.get(one) : undefined),
      budget: this.#budget,
    });
    if (!result) return this.asToday(name, 'no shorter chain of entries gives every version an upgrade');
    return { name, today: today?.entries.length ?? 0, entries: result.entries, atLeast: result.atLeast };
  }

  /** Versions of bundles that must not be upgraded directly to another. */
  #mustNot(
    to: Place,
    { places, may, noStop }: { places: readonly Place[]; may: MayUpgrade; noStop: NoStop },
  ): Version[] {
    const here = new Map(places.map((place) => [place.name, place]));
    const [skipsNoRequired, skipsNone] = [skipsNoStop(this.#policy.required), skipsNoStop(this.#stops)];
    const isAllowed = (bundle: Installed, from: Version, target: Version): boolean => {
      const own = here.get(bundle.name);
      if (own) return may(own, to) && noStop(from, target);
      // Versions that only other channels have may keep their direct upgrades.
      return this.#followedAnywhere(bundle).has(to.name)
        ? skipsNoRequired(from, target)
        : this.#policy.stops !== 'today' && skipsNone(from, target);
    };
    const target = to.version;
    if (!target) return [];
    return [...this.#package.bundles.values()].flatMap((bundle) => {
      const { version } = bundle;
      if (!version || compareVersions(version, target) >= 0) return [];
      return isAllowed(bundle, version, target) ? [] : [version];
    });
  }

  /** Names of the newest candidate of each supported minor version. */
  #supported(places: readonly Place[]): string[] {
    return this.#policy.supported.flatMap(({ major, minor }) => {
      const own = places.filter(
        ({ version, isCandidate }) =>
          isCandidate && version && Number(version.major) === major && Number(version.minor) === minor,
      );
      // Places are in order: the last is the newest.
      return own.slice(-1).map(({ name }) => name);
    });
  }
}

function versionsOf(all: readonly Installed[]): Version[] {
  return all.flatMap(({ version }) => (version ? [version] : []));
}

/** Names of the places at stops. */
function atStops(places: readonly Place[], stops: readonly Version[]): string[] {
  return places
    .filter(({ version }) => version && stops.some((stop) => compareVersions(stop, version) === 0))
    .map(({ name }) => name);
}

/** Names that entries skip without replacing them. */
const withdrawnIn = onceFor((channel: Channel): ReadonlySet<string> => {
  const found = new Set<string>();
  for (const { skips, replaces } of channel.entries)
    for (const name of skips) if (name !== replaces) found.add(name);
  return found;
});
