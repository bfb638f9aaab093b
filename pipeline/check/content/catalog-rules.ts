/**
 * All rules over the catalogs that a pull request touches. What was there before is
 * told apart from what the pull request brings.
 */

import { catalogOf, type Entry } from '../../../catalog/fbc/model.ts';
import { type Finding, findingIdentity, type Location } from '../../../catalog/finding.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { diffOf } from '../../../catalog/olm/diff.ts';
import { type Change, formerWorld, type World } from '../../../catalog/olm/foresight/world.ts';
import { unlisted } from '../../../catalog/rules/bundle/table.ts';
import { knownFrom } from '../../../catalog/rules/earlier-findings.ts';
import { areStrandedIn } from '../../../catalog/rules/effect.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import {
  runComparison,
  runForesight,
  runRules,
  type SeverityOf,
  UndecidedRules,
  withSeverities,
} from '../../../catalog/rules/rule.ts';
import { Undecided } from '../../../catalog/undecided.ts';
import { satisfies } from '../../../catalog/version/satisfies.ts';
import { tryParseRange } from '../../../catalog/version/version.ts';
import { inChannel, severitiesOf } from '../../policy/severity.ts';
import type { PlacedDiff } from '../report.ts';
import type { CatalogState, Member, TouchedCatalog } from '../world/touched-catalog.ts';
import { changesIn, type MemberChange, type RepositoryWorld } from '../world/world.ts';

export interface CatalogResult {
  /** Findings that the pull request causes, or that make a catalog invalid. */
  readonly findings: readonly Finding[];
  /** Findings that foresight also has in the base branch. */
  readonly known: readonly Finding[];
  readonly diffs: readonly PlacedDiff[];
  /** Errors that an advisory made warnings: who must approve is decided as if they were errors. */
  readonly accepted?: readonly Finding[];
  /** Parts that could not be decided. */
  readonly undecided?: readonly Undecided[];
  /** The changes of each catalog, if somebody follows installations through them. */
  readonly changes?: readonly Change[];
}

/** Rules that report what is new when they compare; what they find in a state alone counts as known. */
const BY_COMPARISON = new Set(
  RULES.flatMap(({ id, comparisonTellsNews }) => (comparisonTellsNews ? [id] : [])),
);

/**
 * Rules that say what a change does to clusters: what an advisory or a rollback cannot be without, and people can accept.
 */
export const COMPARING: ReadonlySet<string> = new Set(
  RULES.filter(({ compare }) => compare).map(({ id }) => id),
);

/** Checks catalogs that change alike, each for its own platform. What is found alike in several is one finding. */
export async function checkCatalog(
  touched: TouchedCatalog,
  world: RepositoryWorld,
  { keepsChanges = false }: { readonly keepsChanges?: boolean } = {},
): Promise<CatalogResult> {
  const { policy } = world;
  const severityOf = severitiesOf(policy);
  const ofState = touched.after ? findingsOfState(touched.after, severityOf) : [];
  const inAll = (finding: Finding): Finding => ({ ...finding, catalogs: touched.names });
  // What these rules find in the state counts as known: what is new they report when they compare.
  const isCompared = ({ rule }: Finding): boolean => BY_COMPARISON.has(rule);
  const isOmitted = omittedBefore(touched);
  const wasInBundle = defectsBefore(touched, severityOf);
  const wasWarnedOf = readingsBefore(touched);
  const old = new Set(
    ofState.filter(
      (finding) => isCompared(finding) || isOmitted(finding) || wasInBundle(finding) || wasWarnedOf(finding),
    ),
  );
  const isSuperseded = supersededIn(touched);
  const news = ofState
    .filter((finding) => !old.has(finding))
    .map((finding): Finding => (isSuperseded(finding) ? { ...finding, severity: 'info' } : finding));
  const findings: Finding[][] = [news.map(inAll)];
  const known: Finding[][] = [];
  const newCauses = new Set<string>();
  const undecided: Undecided[] = [];
  const changes = await changesIn(touched, world);
  for (const { member, change } of changes) {
    const states = { before: touched.before !== undefined, after: touched.after !== undefined };
    const foreseen = foreseenIn(change, { severityOf, ...states });
    const placed = (finding: Finding): Finding => ({ ...finding, catalogs: [member.name] });
    findings.push(foreseen.findings.map(placed));
    known.push(foreseen.known.map(placed));
    undecided.push(...foreseen.undecided);
    for (const finding of foreseen.findings) newCauses.add(causeKey(finding));
  }
  known.push([...old].filter((finding) => !newCauses.has(causeKey(finding))).map(inAll));
  const inCatalogs = (all: readonly Finding[][]): Finding[] =>
    joinedCatalogs(touched, all.flat()).map((finding) => inChannel(policy, finding));
  return {
    findings: inCatalogs(findings),
    known: inCatalogs(known),
    diffs: valueIfDecided(undecided, () => diffsOf(changes, world)) ?? [],
    undecided,
    ...(keepsChanges ? { changes: changes.map(({ change }) => change) } : {}),
  };
}

/**
 * Checks catalogs that stay as they are for what the change of others does to their clusters, or to those that come to
 * them.
 */
export async function checkNeighbors(
  neighbors: TouchedCatalog,
  world: RepositoryWorld,
): Promise<CatalogResult> {
  const { policy } = world;
  const severityOf = severitiesOf(policy);
  const changes = await changesIn(neighbors, world);
  const undecided: Undecided[] = [];
  const findings = changes.flatMap(({ member, change }) =>
    findingsOrUndecided(undecided, () => runComparison(change, RULES, severityOf)).map((finding) => ({
      ...finding,
      catalogs: [member.name],
    })),
  );
  const placed = joinedCatalogs(neighbors, findings).map((finding) => inChannel(policy, finding));
  return { findings: placed, known: [], diffs: [], undecided };
}

/** The findings, even if some rules could not decide. */
function findingsOrUndecided(undecided: Undecided[], run: () => readonly Finding[]): readonly Finding[] {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof UndecidedRules)) throw error;
    undecided.push(error);
    return error.findings;
  }
}

/** A value, or undefined where it is not decided. */
function valueIfDecided<T>(undecided: Undecided[], run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Undecided)) throw error;
    undecided.push(error);
    return undefined;
  }
}

/** What changes in catalogs that change alike: the same in each, unless what surrounds them tells them apart. */
function diffsOf(changes: readonly MemberChange[], { companions, released }: RepositoryWorld): PlacedDiff[] {
  const [first] = changes;
  const isSame = (companions?.size ?? 0) === 0 && (released?.size ?? 0) === 0;
  const names = changes.map(({ member }) => member.name);
  if (first && isSame) return placedDiffs(first.change, names);
  return joinedDiffs(changes.flatMap(({ member, change }) => placedDiffs(change, [member.name])));
}

/**
 * Findings of foresight in one catalog: new ones, and those that the base branch has as well.
 *
 * @param before whether the catalog has the packages before the change
 * @param after whether it has them after it
 */
export function foreseenIn(
  change: Change,
  {
    severityOf,
    before,
    after,
  }: { readonly severityOf: SeverityOf; readonly before: boolean; readonly after: boolean },
): Pick<CatalogResult, 'findings' | 'known'> & Required<Pick<CatalogResult, 'undecided'>> {
  // Findings about the change come first: if a fix serves both, it belongs to the change.
  const undecided: Undecided[] = [];
  const compared = findingsOrUndecided(undecided, () => runComparison(change, RULES, severityOf));
  const foreseen = after
    ? findingsOrUndecided(undecided, () => runForesight(change.after, RULES, severityOf))
    : [];
  const reportedCauses = new Set(compared.map(causeKey));
  const isReportedStranding = areStrandedIn(compared);
  const isReported = (finding: Finding): boolean =>
    reportedCauses.has(causeKey(finding)) ||
    isReportedStranding(finding) ||
    (finding.package !== undefined && BY_COMPARISON.has(finding.rule));
  // Whether a finding is news only its own rule tells: the others are not asked about the state before, and whether they
  // could decide it does not matter.
  const asked = new Set(foreseen.filter((finding) => !isReported(finding)).map(({ rule }) => rule));
  const rules = RULES.filter(({ id }) => asked.has(id));
  const findingsIn = (world: World): readonly Finding[] =>
    findingsOrUndecided(undecided, () => runForesight(world, rules, severityOf));
  const earlier = before ? findingsIn(change.before) : [];
  // What a channel that is new has wrong is news, though another channel had the same.
  const isNewChannel = ({ package: packageName = '', channel }: Finding): boolean =>
    channel !== undefined && change.before.catalog.packages.get(packageName)?.channels.has(channel) !== true;
  const isKnown = knownFrom([...earlier, ...copiedFrom(change, findingsIn)], isNewChannel);
  const isNews = (finding: Finding): boolean => !isKnown(finding) && !isReported(finding);
  return {
    findings: [...foreseen.filter(isNews), ...compared],
    // A defect that the comparison reports as new is not known as well.
    known: foreseen.filter(
      (finding) =>
        !isNews(finding) && !reportedCauses.has(causeKey(finding)) && !isReportedStranding(finding),
    ),
    undecided,
  };
}

/** Findings of foresight about packages that are new in the catalog that their clusters upgrade from. */
function copiedFrom(change: Change, findingsIn: (world: World) => readonly Finding[]): Finding[] {
  const byWorld = new Map<World, Set<string>>();
  for (const name of change.packages) {
    const former = formerWorld(change, name);
    if (former !== change.before) byWorld.set(former, (byWorld.get(former) ?? new Set()).add(name));
  }
  return [...byWorld].flatMap(([world, names]) =>
    findingsIn(world).filter((finding) => names.has(finding.package ?? '')),
  );
}

/** Findings that are equal but for their catalogs, joined at their place in the first of these. */
function joinedCatalogs({ members }: TouchedCatalog, findings: readonly Finding[]): Finding[] {
  const joined = new Map<string, Finding>();
  for (const finding of findings) {
    const { catalogs = [], ...said } = finding;
    const key = JSON.stringify(said);
    const known = joined.get(key);
    joined.set(key, known ? { ...known, catalogs: [...(known.catalogs ?? []), ...catalogs] } : finding);
  }
  return [...joined.values()].map((finding) => {
    const first = members.find(({ name }) => name === finding.catalogs?.[0]);
    return first ? placedIn(finding, first) : finding;
  });
}

/** A finding at its place in another of the catalogs that change alike. */
function placedIn({ location, correction, ...finding }: Finding, { ownPath }: Member): Finding {
  const own = (place: Location): Location => ({ ...place, file: ownPath(place.file) });
  const corrected = correction && { correction: { ...correction, location: own(correction.location) } };
  return { ...finding, location: own(location), ...corrected };
}

/** The changes in the packages of a change, with the catalogs that have them. */
export function placedDiffs(change: Change, catalogs: readonly string[]): PlacedDiff[] {
  return diffOf(change).packages.map((packageDiff) => ({ ...packageDiff, catalogs }));
}

/** Changes that are the same in several groups of catalogs are one, at the place of the first. */
export function joinedDiffs(diffs: readonly PlacedDiff[]): PlacedDiff[] {
  const alike = new Map<string, PlacedDiff>();
  for (const diff of diffs) {
    const key = JSON.stringify({ ...diff, catalogs: [] });
    const known = alike.get(key);
    alike.set(key, known ? { ...known, catalogs: [...known.catalogs, ...diff.catalogs] } : diff);
  }
  return [...alike.values()];
}

/** Says whether a bundle is left out of a generated catalog that is as valid without it, and was so before. */
function omittedBefore({ before }: TouchedCatalog): (finding: Finding) => boolean {
  const omissions = new Set(
    before?.unread.flatMap(({ rule, message }) => (rule === unlisted.id ? [message] : [])),
  );
  return ({ rule, message }) => rule === unlisted.id && omissions.has(message);
}

/**
 * Says whether a bundle that was listed is left out because a version with a `skipRange` took its place in all of its
 * channels. So it is meant: its clusters go on, and only new ones do not get it.
 */
function supersededIn({ before, after }: TouchedCatalog): (finding: Finding) => boolean {
  return ({ rule, subject }) => {
    if (rule !== unlisted.id || !after) return false;
    const version = before?.blobs.bundles.find(({ name }) => name === subject)?.version;
    if (!version) return false;
    const channels = before?.blobs.channels.filter(({ entries }) =>
      entries.some(({ name }) => name === subject),
    );
    const isSkipped = ({ skipRange }: Entry): boolean => {
      const range = tryParseRange(skipRange);
      return range !== undefined && satisfies(version, range);
    };
    return (channels ?? []).every(({ name }) =>
      after.blobs.channels.some((channel) => channel.name === name && channel.entries.some(isSkipped)),
    );
  };
}

/**
 * Says whether reading a file warned of the same before. Each answer uses up one of the earlier warnings: a file that has one
 * more brings one. What nobody can read stays an error, whoever wrote it.
 */
function readingsBefore({ before }: TouchedCatalog): (finding: Finding) => boolean {
  const warnings = (before?.unread ?? []).filter(({ severity }) => severity !== 'error');
  const left = groupedBy(warnings, findingIdentity);
  return (finding) => left.get(findingIdentity(finding))?.pop() !== undefined;
}

/** Rules that look at one bundle alone, and the one that says which bundles are left out. */
export const OF_BUNDLES: ReadonlySet<string> = new Set(
  RULES.flatMap(({ id, bundleCheck }) => (bundleCheck || id === unlisted.id ? [id] : [])),
);

/**
 * Says whether a bundle of a generated catalog had a defect before. Its directory may not change, and the pipeline that
 * generates catalogs took it as it is.
 */
function defectsBefore(
  { before, after }: TouchedCatalog,
  severityOf: SeverityOf,
): (finding: Finding) => boolean {
  if (!before?.composed || !after?.composed) return () => false;
  let earlier: ReadonlySet<string> | undefined;
  return (finding) => {
    if (!OF_BUNDLES.has(finding.rule)) return false;
    earlier ??= new Set(findingsOfState(before, severityOf).map(findingIdentity));
    return earlier.has(findingIdentity(finding));
  };
}

/** Findings of a state of a catalog by itself: what could not be read, and what rules say that compare nothing. */
function findingsOfState({ blobs, unread }: CatalogState, severityOf: SeverityOf): Finding[] {
  return [...withSeverities(unread, RULES, severityOf), ...runRules(catalogOf(blobs), RULES, severityOf)];
}

/** What a finding is due to: the comparison says of a change what a rule about the catalog says as well. */
function causeKey({ package: packageName, channel, installed, location, hint }: Finding): string {
  return JSON.stringify([packageName, channel, installed, location, hint]);
}
