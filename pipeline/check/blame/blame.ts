/**
 * Since when installations are stuck, and which merge did it. An upgrade path may go and come back, so that bisection could
 * name the wrong merge: each merge that changed the package is tried, from the latest back to the first that left it a path.
 */
import { type Installed, shortName } from '../../../catalog/fbc/edge.ts';
import type { Entry, Package } from '../../../catalog/fbc/model.ts';
import { minorOfCatalog, tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import type { Location } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { type FleetInstallation, installedIn } from '../../../catalog/olm/fleet/fleet.ts';
import { fixFor } from '../../../catalog/olm/foresight/fix.ts';
import { installedPath } from '../../../catalog/olm/foresight/namespace-path.ts';
import type { World } from '../../../catalog/olm/foresight/world.ts';
import { REQUIRING } from '../../../catalog/olm/resolve/requirement.ts';
import { channelIn, placeOfEntry, placeOfPackage } from '../../../catalog/rules/finding-location.ts';
import { type MergedCommit, pullRequestOf } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import { pastLayouts } from '../rehearsal/past-layouts.ts';
import { OutOfTime, type TimeLimit } from '../rehearsal/time-limit.ts';
import { type History, type PackageState, packageHistory } from './package-states.ts';

interface BlameRequest {
  /** Id of the branch's tip. */
  readonly tip: string;
  readonly policy: Policy;
  readonly installations: readonly FleetInstallation[];
  /** Name of the only catalog to look at; without it, those of the installation's platform version, else all. */
  readonly catalog?: string | undefined;
  readonly limit: TimeLimit;
}

/** One installation in one or more catalogs that have the same history of it. As JSON part of a public interface. */
export interface Blamed {
  readonly olm: FleetInstallation['olm'];
  readonly package: string;
  readonly channels: readonly string[];
  /** The version, or the bundle's name where that is unknown. */
  readonly installed: string;
  readonly catalogs: readonly string[];
  readonly state: 'stuck' | 'upgrades';
  /** Under OLM v0, whether it requires other packages: these count as there, whatever the catalogs have. */
  readonly requiresOthers?: true;
  /** Why its upgrade path goes no further; absent where it ends at a head. */
  readonly why?: string;
  /** The result of the search; absent if no version is stuck. */
  readonly cause?: Cause;
  readonly fix?: SuggestedFix;
}

/**
 * `merge`: before it, there was an upgrade path to a head. `published`: there never was one, since the version came with this
 * merge. `unknown`: stuck as far back as the history could be read.
 */
export interface Cause {
  readonly kind: 'merge' | 'published' | 'unknown';
  readonly commit?: string;
  readonly date?: string;
  readonly subject?: string;
  readonly pullRequest?: number;
  /** For `unknown`, why nothing earlier is known. */
  readonly why?: string;
}

interface SuggestedFix {
  readonly text: string;
  /** Place in the files of the tip, or of the commit that the text names. */
  readonly location?: Location;
}

/** As JSON a public interface. */
export interface BlameReport {
  readonly apiVersion: 'portolan/v1alpha1';
  readonly kind: 'BlameReport';
  readonly blamed: readonly Blamed[];
  /** Installations that no catalog has or had: package and version. */
  readonly neverPublished: readonly string[];
  /** Installations for which the time did not suffice: package and version. */
  readonly notSearched: readonly string[];
}

/** Finds since when installations are stuck in the catalogs of a branch. */
export async function blameMerges(
  repository: Repository,
  { tip, policy, installations, catalog, limit }: BlameRequest,
): Promise<BlameReport> {
  const history = await packageHistory(repository, tip, { policy, limit });
  const search = { repository, history, policy };
  const blamed: Blamed[] = [];
  const neverPublished: string[] = [];
  const notSearched: string[] = [];
  for (const installation of distinct(installations)) {
    const name = `${installation.package} ${installation.version || installation.name}`;
    try {
      const found: Blamed[] = [];
      for (const one of catalogsOf(history, installation, catalog)) {
        const cause = await blameIn(search, installation, one);
        if (cause) found.push(cause);
      }
      blamed.push(...joinedByHistory(found));
      if (found.length === 0) neverPublished.push(name);
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error;
      limit.left++;
      notSearched.push(name);
    }
  }
  return {
    apiVersion: 'portolan/v1alpha1',
    kind: 'BlameReport',
    blamed,
    neverPublished: [...new Set(neverPublished)],
    notSearched: [...new Set(notSearched)],
  };
}

/** Each once, by package: many clusters have the same, and the states of a package are read once. */
function distinct(installations: readonly FleetInstallation[]): FleetInstallation[] {
  const all = [...new Map(installations.map((one) => [JSON.stringify(one), one])).values()];
  return all.sort((a, b) => compareText(a.package, b.package));
}

/** The catalogs to search for an installation: those of its platform, or all if none has its version. */
function catalogsOf(
  { catalogs }: History,
  { platform }: FleetInstallation,
  only: string | undefined,
): readonly string[] {
  if (only !== undefined) return catalogs.filter((name) => name === only);
  const minor = tryParseMinor(platform);
  const ofPlatform = catalogs.filter((name) => {
    const own = minorOfCatalog(name);
    return minor && own && own.major === minor.major && own.minor === minor.minor;
  });
  return ofPlatform.length > 0 ? ofPlatform : catalogs;
}

/** Joins what is the same in several catalogs, but for the places of fixes. */
function joinedByHistory(found: readonly Blamed[]): Blamed[] {
  const groups = new Map<string, Blamed>();
  for (const one of found) {
    const key = JSON.stringify([one.state, one.why, one.cause, one.fix?.text]);
    const known = groups.get(key);
    groups.set(key, known ? { ...known, catalogs: [...known.catalogs, ...one.catalogs] } : one);
  }
  return [...groups.values()];
}

interface Search {
  readonly repository: Repository;
  readonly history: History;
  readonly policy: Policy;
}

/**
 * The merge that ended an installation's upgrades in one catalog, and a fix; only the installation if it still upgrades.
 *
 * @returns undefined if the catalog never had the version
 */
async function blameIn(
  search: Search,
  installation: FleetInstallation,
  catalog: string,
): Promise<Blamed | undefined> {
  const { repository, history, policy } = search;
  const { package: name } = installation;
  const states = history.statesOf({ catalog, package: name });
  const [latest] = states;
  const present = await presentIn(states, installation);
  if (!present || !latest) return undefined;
  const { installed, world } = present;
  // A Subscription has one channel, also where nobody knows it; a ClusterExtension without one takes upgrades from all.
  const lacksChannel = installation.olm === 'v0' && installation.channels.length === 0;
  const channels = lacksChannel ? [homeOf([world], name, installed)] : installation.channels;
  const about = { installation: { ...installation, channels }, installed };
  const result = await searchBack(states, about);
  const { past, first, why } = result;
  const base = {
    olm: installation.olm,
    package: name,
    channels,
    installed: shortName(installed),
    catalogs: [catalog],
    state: result.state,
    ...(installation.olm === 'v0' && requiresOthers(world, name) ? { requiresOthers: true as const } : {}),
  };
  if (result.state === 'upgrades') return base;
  const cause = past ? causeOf('merge', first?.merge) : await firstCause(repository, policy, first);
  const tip = await latest.world();
  const fix = suggestedFix({ tip, past: await past?.world(), before: past?.commit }, about);
  return { ...base, why, cause, ...(fix ? { fix: withoutEntries(fix) } : {}) };
}

interface PresentInstallation {
  readonly installed: Installed;
  readonly world: World;
}

/** The installation in the latest state with its version in a channel, else in the latest with its bundle. */
async function presentIn(
  states: readonly PackageState[],
  installation: FleetInstallation,
): Promise<PresentInstallation | undefined> {
  let unlisted: PresentInstallation | undefined;
  for (const state of states) {
    const world = await state.world();
    const ofPackage = world.catalog.packages.get(installation.package);
    const installed = installedIn(world, installation);
    if (!installed || !ofPackage?.bundles.has(installed.name)) continue;
    const found = { installed, world };
    if (channelsListing(ofPackage, installed).length > 0) return found;
    unlisted ??= found;
  }
  return unlisted;
}

/** The channels that list a bundle, the default one first. */
function channelsListing({ channels, defaultChannel }: Package, { name }: Installed): string[] {
  return [...channels.values()]
    .filter(({ entries }) => entries.some((entry) => entry.name === name))
    .map((channel) => channel.name)
    .sort((a, b) => Number(b === defaultChannel) - Number(a === defaultChannel));
}

/** Whether a version of a package requires others. */
function requiresOthers({ catalog }: World, name: string): boolean {
  const bundles = [...(catalog.packages.get(name)?.bundles.values() ?? [])];
  return bundles.some(({ properties }) => properties.some(({ type }) => REQUIRING.has(type)));
}

interface AskedInstallation {
  readonly installation: FleetInstallation;
  readonly installed: Installed;
}

interface SearchResult {
  readonly state: Blamed['state'];
  readonly why: string;
  /** The latest state with an upgrade path to a head. */
  readonly past?: PackageState;
  /** The state that came after it; without one, the first that has the version. */
  readonly first?: PackageState;
}

/** Goes back from the tip to the latest state in which the installation gets to a head. */
async function searchBack(states: readonly PackageState[], about: AskedInstallation): Promise<SearchResult> {
  let why = '';
  let first: PackageState | undefined;
  for (const [i, state] of states.entries()) {
    const world = await state.world();
    const path = installedPath(world, about.installation, about.installed);
    if (path.arrives) {
      const after = states[i - 1];
      return after ? { state: 'stuck', why, past: state, first: after } : { state: 'upgrades', why: '' };
    }
    if (i === 0) why = path.why;
    if (isPresent(world, about)) first = state;
  }
  return { state: 'stuck', why, ...(first ? { first } : {}) };
}

/** Whether a catalog has the installed version, in whatever channel. */
function isPresent({ catalog }: World, { installation, installed }: AskedInstallation): boolean {
  return catalog.packages.get(installation.package)?.bundles.has(installed.name) ?? false;
}

/** Why a version was stuck from the start, if the history shows it. */
async function firstCause(
  repository: Repository,
  { layout }: Policy,
  first: PackageState | undefined,
): Promise<Cause> {
  const merge = first?.merge;
  if (repository.shallow)
    return { ...causeOf('unknown', merge), why: 'the clone is shallow: git fetch --unshallow' };
  if (!merge) return { kind: 'unknown', why: 'it was stuck before the first merge of the branch' };
  const past = await pastLayouts(repository, layout)(merge);
  if (past.kind === 'same') return causeOf('published', merge);
  return { ...causeOf('unknown', merge), why: 'before this merge, the repository had another layout' };
}

/** A cause with the merge that it names, and the pull request if the merge's subject has its number. */
function causeOf(kind: Cause['kind'], merge: MergedCommit | undefined): Cause {
  if (!merge) return { kind };
  const { id, date, subject } = merge;
  const number = pullRequestOf(subject);
  return { kind, commit: id, date, subject, ...(number === undefined ? {} : { pullRequest: number }) };
}

interface Sides {
  readonly tip: World;
  readonly past: World | undefined;
  /** Id of the last commit in which it had an upgrade path. */
  readonly before: string | undefined;
}

/** The same, with the entries that the channel then has, where one edit of them is the fix. */
interface EditFix extends SuggestedFix {
  readonly channel?: string;
  readonly entries?: readonly Entry[];
}

/** The fix as reports have it: the entries are only for a patch. */
function withoutEntries({ text, location }: EditFix): SuggestedFix {
  return { text, ...(location ? { location } : {}) };
}

/**
 * The smallest edit of the tip that gives the installation its upgrade path back.
 *
 * @param all the same installation with other versions that the edit must help as well
 */
export function suggestedFix(
  sides: Sides,
  { installation, installed }: AskedInstallation,
  all: readonly Installed[] = [installed],
): EditFix | undefined {
  const { olm, package: name, channels } = installation;
  const { tip, past, before } = sides;
  const wanted = channels[0] ?? homeOf([tip, past], name, installed);
  const channel = channelIn(tip, name, wanted);
  if (!channel)
    return past && before ? restoringFix(past, { name, channel: wanted, before, tip }) : undefined;
  const onlyChannel = channels.length > 0;
  const fix = fixFor(tip, { olm, package: name, channel: wanted, onlyChannel, installed: all }, past);
  if (!fix) return undefined;
  const { text, entries } = fix;
  const location = placeOfEntry(channel, Math.max(fix.index, 0));
  return { text, location, channel: channel.name, ...(entries ? { entries } : {}) };
}

/** The channel of which a cluster most likely has the version: one that lists it, the default channel first. */
function homeOf(worlds: readonly (World | undefined)[], name: string, installed: Installed): string {
  const packages = worlds.flatMap((world) => world?.catalog.packages.get(name) ?? []);
  return packages.flatMap((one) => channelsListing(one, installed))[0] ?? packages[0]?.defaultChannel ?? '';
}

/** The advice to restore what is gone as it was in an earlier commit. */
function restoringFix(
  past: World,
  { name, channel, before, tip }: { name: string; channel: string; before: string; tip: World },
): SuggestedFix | undefined {
  const place = placeOfPackage(past, name);
  if (!place) return undefined;
  const isGone = (tip.catalog.packages.get(name)?.channels.size ?? 0) === 0;
  const what = isGone ? `package ${name}` : `channel ${channel}`;
  return { text: `restore the ${what} as it was in commit ${before.slice(0, 12)}`, location: place };
}
