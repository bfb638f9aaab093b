/** The upgrades that are new to an installation: it makes them after a change, at once or later, and did not before. */
import { type Installed, installedOf } from '../fbc/edge.ts';
import type { Bundle } from '../fbc/model.ts';
import { groupedBy } from '../go/grouped.ts';
import {
  broughtTo,
  clusterInstallations,
  type Installation,
  installationsOf,
  withoutChannels,
} from '../olm/foresight/installation.ts';
import { type Change, type Olm, upgradePathOf, type World } from '../olm/foresight/world.ts';
import { upgradeOf } from '../olm/resolve/outcome.ts';
import { Undecided } from '../undecided.ts';
import { quoted } from './rule.ts';

/** The installed version of a package, and its subscription; an empty channel means none is selected. */
interface PackageInstallation {
  readonly package: string;
  readonly olm: Olm;
  readonly channel: string;
  readonly installed: Installed;
}

/** An upgrade from what is installed. */
export interface NewStep extends PackageInstallation {
  readonly to: Bundle;
  /** To whom it is new: what is upgraded, or what comes there by other upgrades that are new. */
  readonly newTo: Installed;
}

/** The states of a catalog between which upgrades are new. */
type Sides = Pick<Change, 'before' | 'after'>;

/**
 * Versions of a package that clusters may have had before a change: each with every channel that a cluster may select,
 * because channels get different upgrades, and with none.
 */
export function installationsBefore(change: Change, name: string): PackageInstallation[] {
  return [...change.after.olm].sort().flatMap((olm): PackageInstallation[] => {
    const inChannels = installedBefore(change, name, olm);
    const inNone = withoutChannels(inChannels).map((installed) => ({ channel: '', installed }));
    // The usual choice comes first, since a finding names the first that it is true of: OLM v0 needs a channel, OLM v1 does not.
    const ordered = olm === 'v0' ? [...inChannels, ...inNone] : [...inNone, ...inChannels];
    return ordered.map(({ channel, installed }) => ({ package: name, olm, channel, installed }));
  });
}

/** What clusters may have had before a change: with it, on their way since, or in the catalog that they come from. */
function installedBefore(change: Change, name: string, olm: Olm): readonly Installation[] {
  const { before, after, existed } = change;
  if (before.catalog.packages.has(name)) return clusterInstallations(before, name, olm);
  // Before somebody wrote the bundles of a repository as a catalog, clusters had the bundles.
  const made = installationsOf(after, name).filter(({ installed }) => {
    const bundle = after.catalog.packages.get(name)?.bundles.get(installed.name);
    return bundle !== undefined && existed(bundle);
  });
  return [...made, ...broughtTo(before, name, olm)];
}

/** Most upgrades of a package that are looked at: a channel that is turned around has the square of its entries. */
const MOST_NEW = 150_000;

/**
 * The upgrades that are new to anybody, each with enough of those to whom it is to say what they had before.
 *
 * @throws Undecided when they are more than are looked at
 */
export function newSteps(sides: Sides, installations: readonly PackageInstallation[]): NewStep[] {
  const groups = groupedBy(installations, ({ olm, channel }) => JSON.stringify([olm, channel]));
  const found: NewStep[] = [];
  for (const group of groups.values()) {
    for (const step of newStepsOf(sides, group)) {
      if (found.push(step) > MOST_NEW)
        throw new Undecided(`the upgrades of package ${quoted(step.package)}`, 'too many of them are new');
    }
  }
  return found;
}

/**
 * The upgrades that a change makes new for installations that get theirs in one way. Each is given once, with an
 * installation that makes it.
 */
function* newStepsOf(
  { before, after }: Sides,
  installations: readonly PackageInstallation[],
): Generator<NewStep> {
  const [nextBefore, nextAfter] = [nextIn(before), nextIn(after)];
  const passedBefore = passesIn(nextBefore);
  // Installations with the same next bundle before the change had the same path from there on. So they share the names of
  // the bundles from which a new upgrade was given.
  const givenByFormerNext = new Map<string, Set<string>>();
  for (const start of reachedInstallations(nextAfter, installations)) {
    const formerNext = nextBefore(start);
    if (nextAfter(start)?.name === formerNext?.name) continue;
    const given = givenByFormerNext.get(formerNext?.name ?? '') ?? new Set<string>();
    givenByFormerNext.set(formerNext?.name ?? '', given);
    let at: PackageInstallation = start;
    for (const to of stepsBy(nextAfter, start)) {
      const { name } = at.installed;
      // The rest of the path was given for another start, or the bundle was on the path before and is a start of its own.
      if (at !== start && (given.has(name) || (formerNext && passedBefore(start, formerNext, name)))) break;
      given.add(name);
      yield { ...at, to, newTo: start.installed };
      at = { ...start, installed: installedOf(to) };
    }
  }
}

/** What comes after the last bundle of a path. */
const END = -1;

/**
 * Tells whether the upgrade path that begins at a bundle comes by the bundle of a name, the first one included. Paths are
 * walked as numbers: those of a long chain have the square of its length together.
 */
function passesIn(
  nextOne: NextState,
): (installation: PackageInstallation, from: Bundle, name: string) => boolean {
  const numbers = new Map<string, number>();
  const bundles: Bundle[] = [];
  const nexts: number[] = [];
  /** By a bundle's number: the last walk that came by it. */
  const marks: number[] = [];
  let walk = 0;
  let walkedFrom: Bundle | undefined;
  const numberOf = (bundle: Bundle): number => {
    const number = numbers.get(bundle.name) ?? bundles.push(bundle) - 1;
    numbers.set(bundle.name, number);
    return number;
  };
  const nextNumber = (installation: PackageInstallation, number: number): number => {
    const installed = bundles[number];
    const next = installed && nextOne({ ...installation, installed: installedOf(installed) });
    return next ? numberOf(next) : END;
  };
  return (installation, from, name) => {
    if (walkedFrom !== from) {
      walkedFrom = from;
      walk++;
      for (let at = numberOf(from); at !== END && marks[at] !== walk; ) {
        marks[at] = walk;
        at = nexts[at] ??= nextNumber(installation, at);
      }
    }
    return marks[numbers.get(name) ?? END] === walk;
  };
}

/** All bundles that these installations are or become, each once. */
function* reachedInstallations(
  nextOne: NextState,
  installations: readonly PackageInstallation[],
): Generator<PackageInstallation> {
  const names = new Set<string>();
  for (const installation of installations) {
    for (let at: PackageInstallation | undefined = installation; at && !names.has(at.installed.name); ) {
      names.add(at.installed.name);
      yield at;
      const next = nextOne(at);
      at = next && { ...at, installed: installedOf(next) };
    }
  }
}

/** The bundles that an installation becomes, one after the other. */
export function stepsFrom(world: World, installation: PackageInstallation): Generator<Bundle> {
  return stepsBy((at) => nextOf(world, at), installation);
}

type NextState = (installation: PackageInstallation) => Bundle | undefined;

/** The bundles that follow one after the other, up to one that was there already. */
function* stepsBy(nextOne: NextState, installation: PackageInstallation): Generator<Bundle> {
  const seen = new Set([installation.installed.name]);
  for (let next = nextOne(installation); next && !seen.has(next.name); ) {
    seen.add(next.name);
    yield next;
    next = nextOne({ ...installation, installed: installedOf(next) });
  }
}

/** What the installations of one package that get their upgrades in one way become next, each asked for once. */
function nextIn(world: World): NextState {
  const known = new Map<string, Bundle | undefined>();
  return (installation) => {
    const { name } = installation.installed;
    if (!known.has(name)) known.set(name, nextOf(world, installation));
    return known.get(name);
  };
}

/** What an installation becomes next; undefined where it stays. */
function nextOf({ catalog, foresight }: World, installation: PackageInstallation): Bundle | undefined {
  const { next } = upgradePathOf(
    foresight,
    { ...installation, onlyChannel: installation.channel !== '' },
    installation.installed,
  );
  const name = upgradeOf(next)?.to.name;
  return name === installation.installed.name
    ? undefined
    : catalog.packages.get(installation.package)?.bundles.get(name ?? '');
}
