/**
 * Channels and edges that follow from versions: a minor version's last patch replaces the last
 * patch of the minor version before, and skips every other entry of its major version so far.
 */
import { compareText } from '../../go/text.ts';
import { compareVersions, parseVersion, type Version } from '../../version/version.ts';
import { ARCHETYPES, type Archetype, type ChannelKind, type SemverTemplate } from './semver-read.ts';

/** Versions by bundle name. */
export type Versions = Readonly<Record<Archetype, ReadonlyMap<string, Version>>>;

export interface GeneratedChannel {
  readonly name: string;
  readonly entries: readonly GeneratedEntry[];
}

interface GeneratedEntry {
  readonly name: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
}

/** The place of a bundle in one generated channel. */
interface Seat {
  readonly archetype: Archetype;
  readonly kind: ChannelKind;
  readonly channel: string;
  readonly name: string;
  readonly version: Version;
}

type Options = Pick<SemverTemplate, 'kinds' | 'preference'>;

/** The generated channels by name, and the default channel. */
export function channelsOf(
  versions: Versions,
  options: Options,
): { readonly channels: readonly GeneratedChannel[]; readonly defaultChannel: string } {
  const seats = ARCHETYPES.flatMap((archetype) => seatsOf(archetype, versions[archetype], options));
  const edges = edgesOf(seats);
  const entries = new Map<string, GeneratedEntry[]>();
  const newest = new Seating(options);
  for (const seat of seats) {
    if (!entries.has(seat.channel)) newest.consider(seat);
    entries.set(seat.channel, [
      ...(entries.get(seat.channel) ?? []),
      { name: seat.name, ...edges.get(seat) },
    ]);
  }
  const channels = [...entries]
    .map(([name, list]) => ({ name, entries: list }))
    .sort((a, b) => compareText(a.name, b.name));
  return { channels, defaultChannel: newest.channel };
}

/** The places of an archetype's bundles, such as `stable-v1` and `stable-v1.2`: by kind of channel, and by version in each. */
function seatsOf(archetype: Archetype, versions: ReadonlyMap<string, Version>, { kinds }: Options): Seat[] {
  const ascending = [...versions].sort(([, a], [, b]) => compareVersions(a, b));
  return kinds.flatMap((kind) =>
    ascending.map(([name, version]) => {
      const minor = kind === 'minor' ? `.${version.minor}` : '';
      return { archetype, kind, channel: `${archetype}-v${version.major}${minor}`, name, version };
    }),
  );
}

/** Finds the default channel: it is chosen when channels begin, by the version that each begins with. */
class Seating {
  readonly #preference: ChannelKind;
  #archetype: Archetype = 'candidate';
  #kind: ChannelKind | undefined;
  #version = parseVersion('0.0.0');
  channel = '';

  constructor({ preference }: Options) {
    this.#preference = preference;
  }

  consider(seat: Seat): void {
    if (!this.#isBetter(seat)) return;
    this.#archetype = seat.archetype;
    this.#kind = seat.kind;
    this.#version = seat.version;
    this.channel = seat.channel;
  }

  #isBetter({ archetype, kind, version }: Seat): boolean {
    const rank = ARCHETYPES.indexOf(archetype) - ARCHETYPES.indexOf(this.#archetype);
    if (rank !== 0) return rank > 0;
    const order = compareVersions(version, this.#version);
    if (order !== 0) return order > 0;
    if (kind === this.#kind) return false;
    // There are two kinds, and the preference is one of them.
    return kind === this.#preference || this.#kind === undefined;
  }
}

type Edges = Pick<GeneratedEntry, 'replaces' | 'skips'>;

/** Edges of the seats that have any. Seats come by archetype, kind and version. */
function edgesOf(seats: readonly Seat[]): Map<Seat, Edges> {
  const edges = new Map<Seat, Edges>();
  let replaces = '';
  let below: string[] = [];
  for (const [i, seat] of seats.entries()) {
    const next = seats[i + 1];
    const endsMajor = !next || startsMajor(seat, next);
    const endsMinor = endsMajor || compareParts(seat.version.minor, next.version.minor) !== 0;
    if (endsMinor) {
      const skips = below.filter((name) => name !== replaces).sort(compareText);
      edges.set(seat, {
        ...(replaces === '' ? {} : { replaces }),
        ...(skips.length === 0 ? {} : { skips }),
      });
    }
    below = endsMajor ? [] : [...below, seat.name];
    if (endsMinor) replaces = endsMajor ? '' : seat.name;
  }
  return edges;
}

function startsMajor(seat: Seat, next: Seat): boolean {
  const isOther = next.archetype !== seat.archetype || next.kind !== seat.kind;
  return isOther || compareParts(seat.version.major, next.version.major) !== 0;
}

function compareParts(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
