/**
 * Keeps a report within a size, whatever a pull request writes: long lists are cut, and findings beyond a number that
 * one rule has of one package become one. What counts is decided before, so nothing passes for being left out.
 */
import type { Finding } from '../../../catalog/finding.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import type { HeadReview } from '../../../catalog/olm/head-reviews.ts';
import { listed } from '../../../catalog/rules/message-text.ts';
import { quoted } from '../../../catalog/rules/rule.ts';
import type { CheckReport, PlacedDiff } from '../report.ts';

/** Most findings of one rule, severity and package. */
const MOST_ALIKE = 100;
/** Most findings in all. */
const MOST_FINDINGS = 1_000;
/** Most installations that findings, or rows, name together before their lists are cut to `INSTALLED_OF_EACH`. */
const MOST_INSTALLED = 20_000;
const INSTALLED_OF_EACH = 50;
/** Most versions in the diagrams, and lines about edges and bundles, of a report. */
const MOST_VERSIONS = 2_000;
const MOST_CHANGES = 1_000;

/** Most items of a part of a review, single changes of an item, and items of all reviews. */
const MOST_REVIEWED = 100;
const MOST_OF_ITEM = 20;
const MOST_OF_ALL_REVIEWS = 2_000;

/** Most packages, each with so many details; most lines about what was not checked, and most waived findings. */
const MOST_PACKAGES = 1_000;
const MOST_DETAILS = 20;
const MOST_UNCHECKED = 200;
const MOST_WAIVED = 200;
/** Most characters of a message, a hint or another line, and of names in lists. */
const MOST_CHARACTERS = 2_000;

/** A report in which no list is longer than people, forges and jobs can use. */
export function withinSize(report: CheckReport): CheckReport {
  const omitted = new Set<string>();
  const findings = cutInstalled(fewerFindings(report.findings, 'findings', omitted), omitted).map(
    shortFinding,
  );
  const known = cutInstalled(fewerFindings(report.known, 'known findings', omitted), omitted).map(
    shortFinding,
  );
  const diffs = smallerDiffs(report.diffs, omitted);
  const first = <T>(list: readonly T[], most: number, what: string): readonly T[] => {
    if (list.length > most) omitted.add(`all but the first ${most} of ${list.length} ${what}`);
    return list.slice(0, most);
  };
  const packages = first(report.packages, MOST_PACKAGES, 'packages').map((one) => ({
    ...one,
    details: shortDetails(one.details, omitted),
  }));
  const unchecked = first(report.unchecked, MOST_UNCHECKED, 'notes on what was not checked').map(
    ({ what, why }) => ({ what: shortLine(what), why: shortLine(why) }),
  );
  const waived = first(report.waived, MOST_WAIVED, 'waived findings').map((one) => ({
    ...one,
    finding: shortFinding(one.finding),
  }));
  const cut = { findings, known, diffs, packages, unchecked, waived };
  return { ...report, ...cut, ...(omitted.size > 0 ? { omitted: [...omitted].sort() } : {}) };
}

function shortDetails(details: readonly string[], omitted: Set<string>): readonly string[] {
  if (details.length > MOST_DETAILS) omitted.add(`details of packages beyond ${MOST_DETAILS} of each`);
  return details.slice(0, MOST_DETAILS).map(shortLine);
}

/** The finding with its texts cut to a line: they quote what a file holds, which may be of any length. */
function shortFinding(finding: Finding): Finding {
  const { message, hint } = finding;
  if (message.length <= MOST_CHARACTERS && (hint?.length ?? 0) <= MOST_CHARACTERS) return finding;
  return {
    ...finding,
    message: shortLine(message),
    ...(hint === undefined ? {} : { hint: shortLine(hint) }),
  };
}

/** A line, cut where it is too long, with the number of characters that are left out. */
function shortLine(line: string): string {
  const left = line.length - MOST_CHARACTERS;
  return left <= 0 ? line : `${line.slice(0, MOST_CHARACTERS)} … (${left} more characters)`;
}

/** Joins findings of one rule and package beyond a number, and notes in `omitted` what that leaves out. */
function fewerFindings(findings: readonly Finding[], what: string, omitted: Set<string>): readonly Finding[] {
  const alike = groupedBy(findings, ({ rule, severity, package: packageName }) =>
    JSON.stringify([rule, severity, packageName]),
  );
  const kept = new Set([...alike.values()].flatMap((group) => group.slice(0, MOST_ALIKE)));
  const rest = [...alike.values()].flatMap((group) => joinedRest(group.slice(MOST_ALIKE)));
  const all = rest.length === 0 ? findings : [...findings.filter((finding) => kept.has(finding)), ...rest];
  if (rest.length > 0)
    omitted.add(`${what} beyond ${MOST_ALIKE} of one rule and package, which are counted in one`);
  if (all.length <= MOST_FINDINGS) return all;
  omitted.add(`all but the first ${MOST_FINDINGS} of ${all.length} ${what}`);
  return all.slice(0, MOST_FINDINGS);
}

/** The findings of one rule, severity and package that are too many to be told apart, as one. */
function joinedRest(rest: readonly Finding[]): Finding[] {
  const [first, ...others] = rest;
  if (!first || others.length === 0) return [...rest];
  const channels = [...new Set(rest.flatMap(({ channel }) => channel ?? []))];
  const where = channels.length > 0 ? `, in channels ${listed(channels.map(quoted))}` : '';
  // What is of the first alone would be taken for all of them.
  const { channel: _, subject: __, installed: ___, clusters: ____, correction: _____, ...said } = first;
  const catalogs = [...new Set(rest.flatMap((finding) => finding.catalogs ?? []))];
  return [
    {
      ...said,
      catalogs,
      message: `${rest.length} more findings like this one${where}: ${first.message}`,
    },
  ];
}

/** Cuts the lists of installations if all together are too long, and notes that in `omitted`. */
function cutInstalled<T extends { readonly installed?: readonly string[] }>(
  all: readonly T[],
  omitted: Set<string>,
): readonly T[] {
  const total = all.reduce((sum, { installed = [] }) => sum + installed.length, 0);
  if (total <= MOST_INSTALLED) return all;
  omitted.add(`all but the first ${INSTALLED_OF_EACH} installations of each finding and row`);
  return all.map((one) =>
    one.installed ? { ...one, installed: one.installed.slice(0, INSTALLED_OF_EACH) } : one,
  );
}

/** Cuts the diffs so that all together keep to the limits: the first ones stay whole. Notes in `omitted` what that leaves out. */
function smallerDiffs(diffs: readonly PlacedDiff[], omitted: Set<string>): readonly PlacedDiff[] {
  const room = { stops: MOST_VERSIONS, written: MOST_CHANGES, reviewed: MOST_OF_ALL_REVIEWS };
  return diffs.map((diff): PlacedDiff => {
    const lanes = diff.graph.lanes.filter(({ stops }) => {
      room.stops -= stops.length;
      return room.stops >= 0;
    });
    if (lanes.length < diff.graph.lanes.length)
      omitted.add(`diagrams of channels beyond ${MOST_VERSIONS} versions`);
    const cut = <T>(list: readonly T[]): readonly T[] => {
      const kept = list.length <= room.written ? list : list.slice(0, Math.max(room.written, 0));
      room.written -= kept.length;
      if (kept.length < list.length) omitted.add(`changed entries, edges and bundles beyond ${MOST_CHANGES}`);
      return kept;
    };
    const channels = cut(diff.channels).map((channel) => ({
      ...channel,
      added: cut(channel.added),
      removed: cut(channel.removed),
      edges: cut(channel.edges).map((edge) => ({ ...edge, from: shortLine(edge.from) })),
    }));
    const fates = cutInstalled(cut(diff.fates), omitted);
    const reviews = diff.reviews?.map((review) => shortReview(review, omitted));
    const shown = reviews?.filter(({ sections }) => {
      room.reviewed -= sections.reduce((sum, { items }) => sum + items.length, 0);
      return room.reviewed >= 0;
    });
    if ((reviews?.length ?? 0) > (shown?.length ?? 0))
      omitted.add(`what upgrades require beyond ${MOST_OF_ALL_REVIEWS} items`);
    const rest = { channels, bundles: cut(diff.bundles), fates, graph: { ...diff.graph, lanes } };
    return { ...diff, ...rest, ...(shown ? { reviews: shown } : {}) };
  });
}

/** A review with its first items; those that need action come first. */
function shortReview(review: HeadReview, omitted: Set<string>): HeadReview {
  const cut = <T>(list: readonly T[], most: number): readonly T[] => {
    if (list.length > most) omitted.add(`what an upgrade requires beyond ${most} items of a list`);
    return list.slice(0, most);
  };
  const sections = review.sections.map((section) => ({
    ...section,
    items: cut(
      [...section.items].sort((a, b) => Number(b.weight === 'act') - Number(a.weight === 'act')),
      MOST_REVIEWED,
    ).map((item) => ({
      ...item,
      text: shortLine(item.text),
      ...(item.details ? { details: cut(item.details, MOST_OF_ITEM).map(shortLine) } : {}),
    })),
  }));
  return { ...review, sections, channels: cut(review.channels, MOST_REVIEWED) };
}
