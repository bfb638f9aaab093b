/**
 * What the latest merges of a public repository did to installed versions: who lost their upgrade path, since which merge, and
 * when it was repaired. Two calculations must agree on each entry: the rules that compare both sides of the merge, and the
 * resolution of each version before and after it.
 */
import type { Installed } from '../../../catalog/fbc/edge.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { type FleetInstallation, installedIn } from '../../../catalog/olm/fleet/fleet.ts';
import { installedPath } from '../../../catalog/olm/foresight/namespace-path.ts';
import { effectOf } from '../../../catalog/rules/effect.ts';
import { tryParseVersion } from '../../../catalog/version/version.ts';
import { type MergedCommit, pullRequestOf } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { suggestedFix } from '../blame/blame.ts';
import { type History, type PackageState, packageHistory } from '../blame/package-states.ts';
import { type RehearsalRequest, rehearseMerges } from '../rehearsal/rehearsal.ts';
import type { RehearsedMerge } from '../rehearsal/tally.ts';
import { patchOf } from './patch.ts';

interface MonitorRequest extends Pick<RehearsalRequest, 'head' | 'count' | 'policy' | 'progress'> {
  /** `OWNER/NAME`. */
  readonly name: string;
  /** Entries that people found to be wrong. */
  readonly removed: readonly RemovedEntry[];
  /** The day, `YYYY-MM-DD`. */
  readonly today: string;
}

export interface RemovedEntry {
  readonly repository: string;
  /** The commit's id, or its beginning. */
  readonly commit: string;
  /** All packages of the commit without it. */
  readonly package?: string;
}

/** As JSON a public interface. */
export interface MonitoredRepository {
  readonly name: string;
  /** Id of the branch's tip. */
  readonly tip: string;
  /** Days of the first and the last merge that was checked, and how many there were. */
  readonly from: string;
  readonly to: string;
  readonly merges: number;
  /** The packages that these merges changed. */
  readonly packages: readonly string[];
  /** The latest first. */
  readonly entries: readonly MonitorEntry[];
  /** Findings on which the two calculations do not agree: they are not among the entries. */
  readonly unconfirmed: number;
  /** How many entries somebody removed. */
  readonly removed: number;
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

/** What one merge did to the installed versions of a package. */
export interface MonitorEntry {
  readonly package: string;
  readonly merge: Merge;
  readonly rules: readonly string[];
  readonly messages: readonly string[];
  readonly lost: readonly Lost[];
  /** Whether somebody has no upgrade path today. */
  readonly state: 'stuck' | 'repaired';
  /** How many days it took until all were repaired, or has taken so far. */
  readonly days: number;
}

interface Merge {
  readonly commit: string;
  readonly date: string;
  readonly subject: string;
  readonly pullRequest?: number;
}

/** Versions that lost their upgrade path, in catalogs in which the same happened. */
interface Lost {
  readonly olm: FleetInstallation['olm'];
  /** The subscribed channel; absent for a ClusterExtension without one. */
  readonly channel?: string;
  readonly versions: readonly string[];
  readonly catalogs: readonly string[];
  /** The merge that repaired it; absent while they are stuck. */
  readonly repaired?: Merge;
  readonly fix?: MonitorFix;
}

interface MonitorFix {
  readonly text: string;
  /** A patch of the tip; absent where the fix writes new entries or is several edits. */
  readonly patch?: string;
}

/**
 * Checks the merges of a repository, and follows each installation that a merge left without upgrades until it is
 * repaired.
 */
export async function monitorRepository(
  repository: Repository,
  { name, removed, today, ...asked }: MonitorRequest,
): Promise<MonitoredRepository> {
  const rehearsal = await rehearseMerges(repository, { ...asked, today });
  const [tip = ''] = await repository.resolve([asked.head]);
  const { policy } = readPolicy(asked.policy.bytes);
  const isRemoved = ({ merge: { commit }, package: packageName }: Reported): boolean =>
    removed.some(
      (one) =>
        one.repository === name &&
        commit.startsWith(one.commit) &&
        (one.package === undefined || one.package === packageName),
    );
  const reported = rehearsal.merges.flatMap((merge) =>
    [...strandedErrors(merge)].map(
      ([packageName, findings]): Reported => ({ merge, package: packageName, findings }),
    ),
  );
  const kept = reported.filter((one) => !isRemoved(one));
  const entries: MonitorEntry[] = [];
  let unconfirmed = 0;
  if (policy && kept.length > 0) {
    const history = await packageHistory(repository, tip, { policy });
    // By package: the states of a package are read once.
    for (const one of [...kept].sort((a, b) => compareText(a.package, b.package))) {
      const search = { repository, tip, history, today };
      const found = await entryOf(search, one);
      unconfirmed += found.unconfirmed;
      if (found.entry) entries.push(found.entry);
    }
  }
  return {
    name,
    tip,
    from: rehearsal.from,
    to: rehearsal.to,
    merges: rehearsal.merges.length,
    packages: [...new Set(rehearsal.merges.flatMap(({ packages }) => packages))].sort(),
    entries: entries.sort((a, b) => compareText(b.merge.date, a.merge.date)),
    unconfirmed,
    removed: reported.length - kept.length,
    unchecked: rehearsal.unchecked,
  };
}

/** Errors of a merge that say whose upgrade path is lost, by package. */
function strandedErrors({ errors }: RehearsedMerge): Map<string, Finding[]> {
  const byPackage = new Map<string, Finding[]>();
  for (const finding of errors) {
    const { package: packageName, catalogs = [] } = finding;
    if (packageName === undefined || catalogs.length === 0 || effectOf(finding)?.olm === undefined) continue;
    appendToGroup(byPackage, packageName, finding);
  }
  return byPackage;
}

interface Search {
  readonly repository: Repository;
  readonly tip: string;
  readonly history: History;
  readonly today: string;
}

interface Reported {
  readonly merge: RehearsedMerge;
  readonly package: string;
  readonly findings: readonly Finding[];
}

/**
 * What a merge took from the installations of one package.
 *
 * @returns no entry if the upgrade paths through the history do not confirm it
 */
async function entryOf(
  search: Search,
  { merge, package: packageName, findings }: Reported,
): Promise<{ readonly entry?: MonitorEntry; readonly unconfirmed: number }> {
  const lost: Lost[] = [];
  const confirmed: Finding[] = [];
  for (const finding of findings) {
    const found: Lost[] = [];
    for (const catalog of finding.catalogs ?? [])
      for (const channels of channelsOf(finding)) {
        const place = { finding, channels, package: packageName, catalog, commit: merge.commit };
        found.push(...(await lostIn(search, place)));
      }
    if (found.length > 0) confirmed.push(finding);
    lost.push(...found);
  }
  const unconfirmed = findings.length - confirmed.length;
  if (lost.length === 0) return { unconfirmed };
  // It is repaired with the last of its installations.
  const repairs = lost.map(({ repaired }) => repaired?.date);
  const isStuck = repairs.includes(undefined);
  const last = isStuck ? search.today : (repairs as string[]).sort().at(-1);
  const entry: MonitorEntry = {
    package: packageName,
    merge: mergeOf(merge.commit, merge),
    rules: [...new Set(confirmed.map(({ rule }) => rule))],
    messages: [...new Set(confirmed.map(({ message }) => message))],
    lost: joinedLosses(lost),
    state: isStuck ? 'stuck' : 'repaired',
    days: daysBetween(merge.date, last ?? search.today),
  };
  return { entry, unconfirmed };
}

/** Under OLM v1 a finding names the channel to edit: an extension may have selected it, or none. */
function channelsOf(finding: Finding): (readonly string[])[] {
  const named = finding.channel === undefined ? [] : [finding.channel];
  return effectOf(finding)?.olm === 'v1' && named.length > 0 ? [[], named] : [named];
}

interface Place {
  readonly finding: Finding;
  readonly channels: readonly string[];
  readonly package: string;
  readonly catalog: string;
  readonly commit: string;
}

/** The versions of a finding that could upgrade before the merge and cannot after it, with what became of them. */
async function lostIn(
  search: Search,
  { finding, channels, package: packageName, catalog, commit }: Place,
): Promise<Lost[]> {
  const states = search.history.statesOf({ catalog, package: packageName });
  const at = states.findIndex(({ merge }) => merge?.id === commit);
  const [after, before] = [states[at], states[at + 1]];
  const olm = effectOf(finding)?.olm;
  if (!after || !before || olm === undefined) return [];
  const stuck: Stuck[] = [];
  const repaired = new Map<string, Lost>();
  const channel = channels.length === 0 ? {} : { channel: channels[0] ?? '' };
  const place = { olm, ...channel, catalogs: [catalog] };
  for (const version of finding.installed ?? []) {
    const installation = { ...UNSAID, olm, package: packageName, channels, ...namedBy(version) };
    const installed = installedIn(await before.world(), installation);
    if (!installed) continue;
    const about = { installation, installed };
    // Otherwise the merge did not take its path, whatever the rule says.
    if (!(await arrives(before, about)) || (await arrives(after, about))) continue;
    const repair = await repairOf(states.slice(0, at), about);
    if (repair) {
      const versions = [...(repaired.get(repair.commit)?.versions ?? []), version];
      repaired.set(repair.commit, { ...place, versions, repaired: repair });
    } else stuck.push({ ...about, version });
  }
  return [...repaired.values(), ...(await withFixes(search, place, { stuck, states, before }))];
}

interface Stuck extends AskedInstallation {
  readonly version: string;
}

interface Unrepaired {
  readonly stuck: readonly Stuck[];
  /** All states of the package, the latest first. */
  readonly states: readonly PackageState[];
  /** The one before the merge that took the upgrade path. */
  readonly before: PackageState;
}

/** The stuck installations with a fix: one for all of them if there is one, else one for each. */
async function withFixes(
  search: Search,
  place: Omit<Lost, 'versions'>,
  { stuck, states, before }: Unrepaired,
): Promise<Lost[]> {
  const lostOf = (some: readonly Stuck[], fix: MonitorFix | undefined): Lost => ({
    ...place,
    versions: some.map(({ version }) => version),
    ...(fix ? { fix } : {}),
  });
  if (stuck.length === 0) return [];
  const all = await fixOf(search, { stuck, states, before });
  if (all || stuck.length === 1) return [lostOf(stuck, all)];
  const each: Lost[] = [];
  const without: Stuck[] = [];
  for (const one of stuck) {
    const fix = await fixOf(search, { stuck: [one], states, before });
    if (fix) each.push(lostOf([one], fix));
    else without.push(one);
  }
  return [...each, ...(without.length > 0 ? [lostOf(without, undefined)] : [])];
}

/** What a finding does not say of an installation. */
const UNSAID = { platform: '', range: '', catalog: '', isManual: false };

/** Findings name a bundle where its name does not say its version. */
function namedBy(text: string): Pick<FleetInstallation, 'name' | 'version'> {
  return tryParseVersion(text) ? { name: '', version: text } : { name: text, version: '' };
}

interface AskedInstallation {
  readonly installation: FleetInstallation;
  readonly installed: Installed;
}

/** Whether an installation has an upgrade path to a head in a state of its package. */
async function arrives(
  state: PackageState,
  { installation, installed }: AskedInstallation,
): Promise<boolean> {
  return installedPath(await state.world(), installation, installed).arrives;
}

/** The first of later merges after which it can upgrade, if it still can today. */
async function repairOf(
  later: readonly PackageState[],
  about: AskedInstallation,
): Promise<Merge | undefined> {
  let repaired: PackageState | undefined;
  // From the latest back: what was repaired and lost again is a later entry, and stuck today.
  for (const state of later) {
    if (!(await arrives(state, about))) break;
    repaired = state;
  }
  return repaired?.merge && mergeOf(repaired.merge.id, repaired.merge);
}

/** A fix for installations that are still stuck, with a patch if the change is small; undefined if none is found. */
async function fixOf(
  { repository, tip }: Search,
  { stuck, states, before }: Unrepaired,
): Promise<MonitorFix | undefined> {
  const [latest] = states;
  const [about] = stuck;
  if (!latest || !about) return undefined;
  const sides = { tip: await latest.world(), past: await before.world(), before: before.commit };
  const fix = suggestedFix(
    sides,
    about,
    stuck.map(({ installed }) => installed),
  );
  if (!fix) return undefined;
  const patch = await patchOf(repository, tip, { package: about.installation.package, ...fix });
  return { text: fix.text, ...(patch === undefined ? {} : { patch }) };
}

/** A merge as the report has it, with the number of its pull request if the subject has one. */
function mergeOf(commit: string, { date, subject }: Pick<MergedCommit, 'date' | 'subject'>): Merge {
  const pullRequest = pullRequestOf(subject);
  return { commit, date, subject, ...(pullRequest === undefined ? {} : { pullRequest }) };
}

/** Joins what happened alike in several catalogs. Their patches differ in paths alone: that of the first is shown. */
function joinedLosses(all: readonly Lost[]): Lost[] {
  const alike = new Map<string, Lost>();
  for (const one of all) {
    const { catalogs: _, fix, ...rest } = one;
    const key = JSON.stringify([rest, fix?.text]);
    const known = alike.get(key);
    alike.set(key, known ? { ...known, catalogs: [...new Set([...known.catalogs, ...one.catalogs])] } : one);
  }
  return [...alike.values()];
}

/** Days from one date or time to another, rounded; 0 if the second is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000));
}
