/**
 * The best upgrade graph of a package: the channels and edges with the fewest entries by which both resolvers take every
 * cluster to the newest allowed version. Whatever is suggested was tried with the resolvers; what would strand somebody
 * who has an upgrade path today is not suggested.
 */
import { headOf } from '../../fbc/channel.ts';
import { edgeField, type Installed } from '../../fbc/edge.ts';
import { type Bundle, type Channel, type Entry, type Package, packageWith } from '../../fbc/model.ts';
import { newBlob, newDocument } from '../../fbc/new-blob.ts';
import { compareText } from '../../go/text.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import { foresightWith } from '../foresight/fix-trial.ts';
import { compareInstalled } from '../foresight/installation.ts';
import { type Following, upgradePathOf, type World } from '../foresight/world.ts';
import { followersOf } from '../resolve/followers.ts';
import { upgradeOf } from '../resolve/outcome.ts';
import { requiredOfOthers } from './dependents.ts';
import { OrderError, orderedPlaces } from './places.ts';
import { type ChannelScheme, type GraphPolicy, passesNoStop, stopsAmong } from './policy.ts';
import { type Place, type SuggestedEntry, suggestedChannel } from './suggested-channel.ts';

export interface Suggestion {
  readonly package: string;
  /** Empty where the package has none yet. */
  readonly defaultChannel: string;
  readonly channels: readonly SuggestedChannel[];
  /** Names of bundles that no suggested channel has: they leave the catalog together with the entries. */
  readonly dropped: readonly string[];
  /** Installations without an upgrade path to a head. */
  readonly stranded: { readonly today: readonly Installation[]; readonly suggested: readonly Installation[] };
  /** Upgrades that clusters make with the suggestion, and that no entry of today has. */
  readonly newUpgrades: readonly NewUpgrade[];
}

export interface SuggestedChannel {
  readonly name: string;
  /** The lowest version first. */
  readonly entries: readonly SuggestedEntry[];
  /** Entries of today; 0 for a new channel. */
  readonly today: number;
  /** No channel that does the same has fewer entries; absent where today's channel stays as it is. */
  readonly atLeast?: number;
  /** Why the channel stays as it is. */
  readonly why?: string;
}

/** Something installed, by the way it gets its upgrades. */
export interface Installation extends Following {
  readonly installed: Installed;
}

export interface NewUpgrade {
  readonly from: Installed;
  readonly to: Installed;
}

/** Suggests the upgrade graph of a package of a catalog. */
export function suggestGraph(world: World, ofPackage: Package, policy: GraphPolicy): Suggestion {
  const draft = new Draft(world, ofPackage, policy);
  const isNew = !policy.channels.includes('today');
  let plans = draft.plans(new Set());
  let required: ReadonlySet<string> = requiredOfOthers(world, ofPackage, packageOf(ofPackage, plans));
  if (required.size > 0) plans = draft.plans(required);
  for (;;) {
    const trial = draft.trial(plans);
    const worse = isNew ? [] : trial.worse;
    if (worse.length === 0) return trial.suggestion;
    const [first] = worse;
    const names = new Set(worse.flatMap(({ channel }) => (channel === '' ? [] : [channel])));
    const changed = plans.filter(({ why }) => why === undefined);
    const undone = changed.filter(({ name }) => names.has(name));
    const why = `installed ${first?.installed.name} would lose its upgrade path under OLM ${first?.olm}`;
    // An extension without channels sees all of them: then none can be told from the others.
    const back = new Set((undone.length > 0 ? undone : changed).map(({ name }) => name));
    plans = plans.map((plan) => (back.has(plan.name) ? draft.asToday(plan.name, why) : plan));
    required = requiredOfOthers(world, ofPackage, packageOf(ofPackage, plans));
  }
}

/** The channels that would be suggested, before any trial: whoever takes them must try them with both resolvers. */
export function untriedChannels(world: World, ofPackage: Package, policy: GraphPolicy): SuggestedChannel[] {
  return new Draft(world, ofPackage, policy).plans(new Set());
}

interface Trial {
  readonly suggestion: Suggestion;
  /** Installations that have an upgrade path today and would lose it. */
  readonly worse: readonly Installation[];
}

class Draft {
  readonly #world: World;
  readonly #package: Package;
  readonly #policy: GraphPolicy;
  /** Names of the entries that follow a version today, by channel; the empty name holds those of all channels. */
  readonly #followers: ReadonlyMap<string, (installed: Installed) => ReadonlySet<string>>;
  readonly #stops: readonly Version[];

  constructor(world: World, ofPackage: Package, policy: GraphPolicy) {
    this.#world = world;
    this.#package = ofPackage;
    this.#policy = policy;
    const channels = [...ofPackage.channels.values()];
    this.#followers = new Map([
      ...channels.map(({ name, entries }) => [name, namesOf(entries)] as const),
      ['', namesOf(channels.flatMap(({ entries }) => entries))] as const,
    ]);
    const versions = [...ofPackage.bundles.values()].filter(({ name }) => !policy.avoid.has(name));
    this.#stops = stopsAmong(versionsOf(versions), policy);
  }

  /** @param required names of bundles that must stay installable */
  plans(required: ReadonlySet<string>): SuggestedChannel[] {
    return this.#members().map(({ name, members, head }) => {
      try {
        return this.#plan(name, { members, head, required });
      } catch (error) {
        if (!(error instanceof OrderError)) throw error;
        return this.asToday(name, error.message);
      }
    });
  }

  asToday(name: string, why: string): SuggestedChannel {
    const entries = this.#package.channels.get(name)?.entries ?? [];
    return { name, entries, today: entries.length, why };
  }

  /** Tries channels with both resolvers. */
  trial(plans: readonly SuggestedChannel[]): Trial {
    const suggested = packageOf(this.#package, plans);
    const after = foresightWith(this.#world, suggested.name, suggested);
    const before = this.#world.foresight;
    const stranded = { today: [] as Installation[], suggested: [] as Installation[] };
    const worse: Installation[] = [];
    const fresh = new Map<string, NewUpgrade>();
    const isToday = this.#policy.channels.includes('today');
    for (const one of this.#installations(plans)) {
      const was = upgradePathOf(before, one, one.installed);
      const is = upgradePathOf(after, one, one.installed);
      const existed = isToday || this.#package.channels.has(one.channel);
      if (existed && !was.arrives) stranded.today.push(one);
      if (!is.arrives) stranded.suggested.push(one);
      if (was.arrives && !is.arrives && !this.#isBeyond(one, plans)) worse.push(one);
      const to = upgradeOf(is.next)?.to;
      if (to && !this.#followers.get('')?.(one.installed).has(to.name)) {
        fresh.set(JSON.stringify([one.installed.name, to.name]), { from: one.installed, to });
      }
    }
    const suggestion = {
      package: this.#package.name,
      defaultChannel: this.#defaultChannel(plans),
      channels: plans,
      dropped: [...this.#package.bundles.keys()]
        .filter((name) => !suggested.bundles.has(name))
        .sort(compareText),
      stranded,
      newUpgrades: [...fresh.values()].sort((a, b) => compareInstalled(a.from, b.from)),
    };
    return { suggestion, worse };
  }

  /** Whether nothing may follow an installation, because what it has is to be avoided. */
  #isBeyond({ channel, installed }: Installation, plans: readonly SuggestedChannel[]): boolean {
    if (!this.#policy.avoid.has(installed.name)) return false;
    const heads = plans
      .filter(({ name }) => channel === '' || name === channel)
      .map(({ entries }) => entries.at(-1)?.name ?? '');
    const versions = heads.map((name) => this.#package.bundles.get(name)?.version);
    return versions.every(
      (version) => !version || !installed.version || compareVersions(version, installed.version) < 0,
    );
  }

  #defaultChannel(plans: readonly SuggestedChannel[]): string {
    const { defaultChannel } = this.#package;
    if (plans.some(({ name }) => name === defaultChannel)) return defaultChannel;
    return plans.find(({ name }) => name === 'stable')?.name ?? plans.at(-1)?.name ?? '';
  }

  #installations(plans: readonly SuggestedChannel[]): Installation[] {
    const { name } = this.#package;
    const { olm } = this.#world;
    const all = plans.flatMap((plan) =>
      this.#installedIn(plan).map((installed) => ({ channel: plan.name, installed })),
    );
    const gone = this.#policy.channels.includes('today')
      ? []
      : [...this.#package.channels.values()].flatMap((channel) =>
          channel.entries.flatMap((entry) => {
            const bundle = this.#package.bundles.get(entry.name);
            return bundle ? [{ channel: channel.name, installed: bundle }] : [];
          }),
        );
    const placed = [...all, ...gone];
    const bundles = [...new Map(placed.map(({ installed }) => [installed.name, installed])).values()];
    return [
      ...(olm.has('v0') ? placed.map((one) => ({ ...one, olm: 'v0' as const, package: name })) : []),
      ...(olm.has('v1')
        ? placed.map((one) => ({ ...one, olm: 'v1' as const, package: name, onlyChannel: true }))
        : []),
      ...(olm.has('v1')
        ? bundles.map((installed) => ({ installed, channel: '', olm: 'v1' as const, package: name }))
        : []),
    ];
  }

  /** What clusters may have from a channel. */
  #installedIn({ name }: SuggestedChannel): Installed[] {
    const member = this.#members().find((one) => one.name === name);
    if (!member) return [];
    try {
      const { places, above } = this.#ordered(name, member);
      return [...places, ...above].map(({ name: bundle, version }) => ({
        name: bundle,
        version: this.#package.bundles.has(bundle) ? this.#package.bundles.get(bundle)?.version : version,
      }));
    } catch (error) {
      if (!(error instanceof OrderError)) throw error;
      return member.members.map((bundle) => ({
        name: bundle,
        version: this.#package.bundles.get(bundle)?.version,
      }));
    }
  }

  #ordered(
    name: string,
    { members, head }: { members: readonly string[]; head: string },
  ): ReturnType<typeof orderedPlaces> {
    const channel = this.#policy.channels.includes('today') ? this.#package.channels.get(name) : undefined;
    const published = (this.#world.published.get(this.#package.name) ?? [])
      .filter((one) => one.channel === name)
      .map((one) => ({ name: one.name, version: one.version }));
    return orderedPlaces({
      ofPackage: this.#package,
      names: members,
      channel,
      published,
      head,
      isCandidate: (bundle) => this.#isCandidate(bundle, channel),
    });
  }

  /** Whether a bundle may be an upgrade for somebody: both resolvers take it, and nobody has withdrawn it. */
  #isCandidate({ name, properties }: Bundle, channel: Channel | undefined): boolean {
    return (
      !this.#policy.avoid.has(name) &&
      !this.#package.deprecatedBundles.has(name) &&
      !properties.some(({ type }) => type === 'olm.deprecated') &&
      // An entry that skips what it replaces is a mistake; what others skip is withdrawn.
      !channel?.entries.some(({ skips, replaces }) => skips.includes(name) && replaces !== name)
    );
  }

  #plan(
    name: string,
    { members, head, required }: { members: readonly string[]; head: string; required: ReadonlySet<string> },
  ): SuggestedChannel {
    const today = this.#policy.channels.includes('today') ? this.#package.channels.get(name) : undefined;
    const { places, above } = this.#ordered(name, { members, head });
    const followed = this.#followers.get(today ? name : '') ?? (() => new Set<string>());
    const may = this.#policy.stops === 'today' ? asToday(places, followed) : () => true;
    const own = places.filter(({ isCandidate }) => isCandidate);
    const stops = stopsAmong(versionsOf(own), this.#policy);
    const noStop = passesNoStop(stops);
    const entries = new Map((today?.entries ?? []).map((entry) => [entry.name, entry]));
    const headEntry = entries.get(head);
    const ledDown = headEntry
      ? above.filter((one) => edgeField(headEntry, one) !== undefined).map((one) => one.name)
      : [];
    const known = new Set([...places.map((place) => place.name), ...ledDown]);
    const beyond = members.find((one) => !known.has(one) && !this.#policy.avoid.has(one));
    if (this.#policy.keep === 'all' && beyond !== undefined)
      return this.asToday(name, `the entry ${beyond} is newer than the head`);
    const result = suggestedChannel({
      places,
      ledDown,
      required: new Set([
        ...required,
        ...this.#supported(places),
        ...atStops(own, stops),
        ...(this.#policy.keep === 'offered' ? members : []),
      ]),
      listed: this.#policy.keep === 'needed' ? [] : members.filter((one) => known.has(one)),
      may: (from, to) => may(from, to) && (!from.version || !to.version || noStop(from.version, to.version)),
      mustNot: (to) => this.#mustNot(to, { places, may, noStop }),
      today: (one) => (this.#policy.stops === 'today' ? entries.get(one) : undefined),
    });
    if (!result) return this.asToday(name, 'no shorter chain of entries gives every version an upgrade');
    return { name, today: today?.entries.length ?? 0, entries: result.entries, atLeast: result.atLeast };
  }

  /** Versions of bundles that must not be upgraded directly to another. */
  #mustNot(
    to: Place,
    {
      places,
      may,
      noStop,
    }: { places: readonly Place[]; may: May; noStop: (from: Version, to: Version) => boolean },
  ): Version[] {
    const here = new Map(places.map((place) => [place.name, place]));
    const anywhere = this.#followers.get('');
    const [asked, all] = [passesNoStop(this.#policy.required), passesNoStop(this.#stops)];
    const isAllowed = (bundle: Installed, from: Version, target: Version): boolean => {
      const own = here.get(bundle.name);
      if (own) return may(own, to) && noStop(from, target);
      // What is in other channels alone may keep the direct upgrades that it has today.
      return anywhere?.(bundle).has(to.name)
        ? asked(from, target)
        : this.#policy.stops !== 'today' && all(from, target);
    };
    const target = to.version;
    if (!target) return [];
    return [...this.#package.bundles.values()].flatMap((bundle) => {
      const { version } = bundle;
      if (!version || compareVersions(version, target) >= 0) return [];
      return isAllowed(bundle, version, target) ? [] : [version];
    });
  }

  #supported(places: readonly Place[]): string[] {
    return this.#policy.supported.flatMap(({ major, minor }) => {
      const own = places.filter(
        ({ version, isCandidate }) =>
          isCandidate && version && Number(version.major) === major && Number(version.minor) === minor,
      );
      return own.slice(-1).map(({ name }) => name);
    });
  }

  /** The channels, with what each holds and leads to. */
  #members(): { readonly name: string; readonly members: readonly string[]; readonly head: string }[] {
    if (this.#policy.channels.includes('today')) {
      return [...this.#package.channels.values()].map((channel) => {
        const members = channel.entries.map(({ name }) => name);
        const head = headOf(channel)?.name;
        const head0 = head !== undefined && !this.#policy.avoid.has(head) ? head : this.#newest(members);
        return { name: channel.name, members, head: head0 };
      });
    }
    return this.#policy.channels.flatMap((scheme) => this.#byScheme(scheme));
  }

  #byScheme(scheme: ChannelScheme): { name: string; members: readonly string[]; head: string }[] {
    const bundles = [...this.#package.bundles.values()].filter(({ version }) => version);
    const released = bundles.filter(({ version }) => version?.prerelease.length === 0);
    const of = (
      name: string,
      all: readonly Bundle[],
    ): { name: string; members: readonly string[]; head: string }[] => {
      const members = all.map((bundle) => bundle.name);
      const head = this.#newest(members);
      return head === '' ? [] : [{ name, members, head }];
    };
    if (scheme === 'stable') return of('stable', released);
    if (scheme === 'candidate') return of('candidate', bundles);
    const groups = new Map<string, Version>();
    for (const { version } of [...released].sort(compareInstalled)) {
      if (!version) continue;
      const { major, minor } = version;
      const isSupported = this.#policy.supported.some(
        (one) => one.major === Number(major) && one.minor === Number(minor),
      );
      if (scheme === 'minor' && this.#policy.supported.length > 0 && !isSupported) continue;
      groups.set(scheme === 'minor' ? `stable-v${major}.${minor}` : `stable-v${major}`, version);
    }
    return [...groups].flatMap(([name, newest]) =>
      of(
        name,
        released.filter(({ version }) => version && compareVersions(version, newest) <= 0),
      ),
    );
  }

  /** The newest bundle that may be installed, or the empty string. */
  #newest(names: readonly string[]): string {
    const bundles = names.flatMap((name) => this.#package.bundles.get(name) ?? []);
    const allowed = bundles.filter(({ name, version }) => version && !this.#policy.avoid.has(name));
    const current = allowed.filter(({ name }) => !this.#package.deprecatedBundles.has(name));
    return (current.length > 0 ? current : allowed).sort(compareInstalled).at(-1)?.name ?? '';
  }
}

function versionsOf(all: readonly Installed[]): Version[] {
  return all.flatMap(({ version }) => (version ? [version] : []));
}

function atStops(places: readonly Place[], stops: readonly Version[]): string[] {
  return places
    .filter(({ version }) => version && stops.some((stop) => compareVersions(stop, version) === 0))
    .map(({ name }) => name);
}

type May = (from: Place, to: Place) => boolean;

function namesOf(entries: readonly Entry[]): (installed: Installed) => ReadonlySet<string> {
  const positions = followersOf(entries);
  const known = new Map<string, ReadonlySet<string>>();
  return (installed) => {
    const key = JSON.stringify([installed.name, installed.version]);
    const found =
      known.get(key) ?? new Set(positions(installed).map((position) => entries[position]?.name ?? ''));
    known.set(key, found);
    return found;
  };
}

/**
 * The direct upgrades that today's entries have. What has none is stranded today: it may go where what it leads to
 * goes, else where the version below it may go, else to the next version.
 */
function asToday(places: readonly Place[], followed: (installed: Installed) => ReadonlySet<string>): May {
  const position = new Map(places.map(({ name }, i) => [name, i]));
  const above = places.map((place, i) =>
    [...followed(place)].map((name) => position.get(name) ?? -1).filter((to) => to > i),
  );
  const isCandidate = (at: number): boolean => places[at]?.isCandidate === true;
  const allowed: ReadonlySet<number>[] = [];
  const reach: ReadonlySet<number>[] = [];
  for (let i = places.length - 1; i >= 0; i--) {
    const direct = (above[i] ?? []).filter(isCandidate);
    const beyond = (above[i] ?? []).flatMap((to) => (isCandidate(to) ? [] : [...(reach[to] ?? [])]));
    reach[i] = new Set(direct.length > 0 ? direct : beyond);
  }
  let below: ReadonlySet<number> = new Set();
  for (const i of places.keys()) {
    const own = reach[i] as ReadonlySet<number>;
    const inherited = new Set([...below].filter((to) => to > i));
    const next = places.findIndex((_, at) => at > i && isCandidate(at));
    allowed[i] = own.size > 0 ? own : inherited.size > 0 ? inherited : new Set(next < 0 ? [] : [next]);
    below = allowed[i] as ReadonlySet<number>;
  }
  return (from, to) => {
    const [a, b] = [position.get(from.name), position.get(to.name)];
    return a !== undefined && b !== undefined && (allowed[a]?.has(b) ?? false);
  };
}

/** A package with other channels; bundles that none of them has are gone. */
function packageOf(ofPackage: Package, plans: readonly SuggestedChannel[]): Package {
  const channels = new Map(plans.map((plan) => [plan.name, channelOf(ofPackage, plan)]));
  const listed = new Set(plans.flatMap(({ entries }) => entries.map(({ name }) => name)));
  const bundles = new Map([...ofPackage.bundles].filter(([bundle]) => listed.has(bundle)));
  return packageWith(ofPackage, { channels, bundles });
}

/** A suggested channel as a blob; what else today's blob has stays. */
export function channelOf(ofPackage: Package, { name, entries, why }: SuggestedChannel): Channel {
  const today = ofPackage.channels.get(name);
  if (today && why !== undefined) return today;
  const { properties } = today?.value ?? {};
  const value = {
    schema: 'olm.channel',
    package: ofPackage.name,
    name,
    entries: entries.map(writtenEntry),
    ...(properties === undefined ? {} : { properties }),
  };
  const made = newBlob(value, newDocument(today?.document.locate([]) ?? { file: '', line: 1, column: 1 }));
  if (made.kind !== 'channel') throw new TypeError('internal error: created an invalid channel');
  return made.blob;
}

function writtenEntry({
  name,
  replaces,
  skips,
  skipRange,
}: SuggestedEntry): Readonly<Record<string, unknown>> {
  return {
    name,
    ...(replaces === '' ? {} : { replaces }),
    ...(skips.length === 0 ? {} : { skips }),
    ...(skipRange === '' ? {} : { skipRange }),
  };
}
