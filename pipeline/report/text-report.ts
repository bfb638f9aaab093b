/**
 * A report as a maintainer reads it in a terminal or a log.
 */
import type { BundleDiff, ChannelDiff, EdgeDiff, Pair } from '../../catalog/olm/diff.ts';
import type { BeforeAfter, PathSummary, UpgradeImpact } from '../../catalog/olm/foresight/upgrade-impact.ts';
import {
  type CheckReport,
  type DisconnectedReport,
  type GateReport,
  headlineOf,
  notEnforcedLines,
  type PlacedDiff,
  type ReleaseReport,
} from '../check/report.ts';
import { amountText, countText, findingText, linesText, plainText, shortList } from '../text.ts';
import { fleetLines } from './fleet-text.ts';
import { reviewLines, reviewTitle } from './review-text.ts';

/** The report of a check as text. */
export function textReport(report: CheckReport): string {
  const lines = [
    plainText(verdictLine(report)),
    `  permissions: ${plainText(permissionText(report.authority))}`,
    ...report.authority.reasons.map((reason) => `    ${plainText(reason)}`),
    `  policy: ${plainText(report.policy.source)}`,
    ...notEnforcedLines(report).map((line) => `  ${plainText(line)}`),
    ...report.policy.expired.map((waiver) => `    expired waiver: ${plainText(waiver)}`),
    ...(report.packages.length > 0
      ? report.packages.map(packageLine)
      : [`  packages: ${noPackages(report)}`]),
    ...(report.released ?? []).flatMap(releasedLines).map((line) => `  ${plainText(line)}`),
    ...(report.disconnected ?? []).flatMap(disconnectedLines).map((line) => `  ${plainText(line)}`),
    ...(report.fleet ? fleetLines(report.fleet) : []).map((line) => `  ${line}`),
    ...contextLines(report),
    ...(report.gates ?? []).flatMap(gateLines).map((line) => `  ${plainText(line)}`),
    ...(report.omitted ?? []).map((what) => `  left out of this report: ${plainText(what)}`),
    ...report.unchecked.map(({ what, why }) => `  not checked: ${plainText(what)}: ${plainText(why)}`),
  ];
  const changed = report.diffs.filter((diff) => diff.fates.length > 0);
  const parts = [linesText(lines)];
  if (changed.length > 0) parts.push('\nUpgrade impact:\n', linesText(changed.flatMap(impactLines)));
  const reviews = report.diffs.flatMap(reviewTexts);
  if (reviews.length > 0) parts.push('\nUpgrades to approve:\n', linesText(reviews));
  if (report.findings.length > 0) parts.push('\n', report.findings.map(findingText).join(''));
  parts.push(`\n${countText(report.findings)}${alsoText(report)}\n`);
  return parts.join('');
}

/** What to say of packages when none is named; nothing is known of a pull request that could not be looked at. */
function noPackages({ unchecked }: CheckReport): string {
  return unchecked.some(({ what }) => what === 'the pull request') ? 'not checked' : 'no changes';
}

/** What was fetched from a remote repository about packages that the pull request does not touch; empty if nothing. */
export function contextLines({
  context,
}: {
  readonly context?: CheckReport['context'] | undefined;
}): string[] {
  if (!context || context.fetched === 0) return [];
  const { fetched, fetchedBytes, requests } = context;
  const asked =
    requests === 0
      ? 'together with the changed files'
      : `in ${requests} more ${requests === 1 ? 'request' : 'requests'}`;
  return [
    `  other packages: fetched ${amountText(fetched, 'file')} (${amountText(fetchedBytes, 'byte')}) ${asked}`,
  ];
}

/** What the merge will do, and each file that it changes. */
export function releasedLines({ package: name, version, image, by, files }: ReleaseReport): string[] {
  const way = by === 'commit' ? 'a commit on the branch' : 'a pull request';
  const first = `merging releases ${name} ${version} as ${image}`;
  if (files.length === 0) return [`${first}; the catalogs already have it`];
  return [`${first}, and changes these files in ${way}:`, ...files.map((file) => `  ${file}`)];
}

/** What another gate would say, and what it checks besides; the first line is its verdict. */
export function gateLines({ preset, gate, date, verdict, checks, notChecked }: GateReport): string[] {
  const shown = checks.map(
    ({ check, errors, warnings }) =>
      `${check} (${[...countLines(errors, 'error'), ...countLines(warnings, 'warning')].join(', ')})`,
  );
  const what = shown.length === 0 ? '' : `: ${shown.join('; ')}`;
  return [
    `preset ${preset} (${gate}, ${date}): would ${verdict}${what}`,
    ...notChecked.map(({ check, why }) => `  not checked: ${check}: ${why}`),
  ];
}

function countLines(count: number, word: string): string[] {
  return count === 0 ? [] : [amountText(count, word)];
}

/** `ready for disconnected clusters: 12 of 13 bundles`, and what is worse than before, a line each. */
export function disconnectedLines({
  catalogs,
  bundles,
  ready,
  unchecked = 0,
  worse,
}: DisconnectedReport): string[] {
  const where = catalogs.length > 0 ? ` in ${catalogs.join(', ')}` : '';
  const unknown =
    unchecked > 0 ? `; ${unchecked} not checked: the catalog does not contain their deployments` : '';
  return [
    `ready for disconnected clusters: ${ready} of ${amountText(bundles, 'bundle')}${where}${unknown}`,
    ...worse.map(
      ({ bundle, missing }) => `  no longer ready after this change: ${bundle} (${missing.join('; ')})`,
    ),
  ];
}

/** The verdict and the headline, which says itself that a pull request is denied. */
function verdictLine(report: CheckReport): string {
  const headline = headlineOf(report);
  if (report.enforce === 'off') return `OBSERVED: ${headline}`;
  const [word, denied] = [verdictWord(report), 'denied: '];
  const isTwice = word === 'DENIED' && headline.startsWith(denied);
  return `${word}: ${isTwice ? headline.slice(denied.length) : headline}`;
}

/** The first word of the report. A check that is incomplete says so, whatever was decided on permissions. */
function verdictWord({ verdict, authority }: CheckReport): string {
  if (verdict !== 'inconclusive' && authority.decision === 'deny') return 'DENIED';
  if (verdict !== 'pass') return verdict.toUpperCase();
  return authority.decision === 'needs' ? 'NOT YET' : 'PASS';
}

/** A decision as people read it. */
const PERMISSIONS: Readonly<Record<CheckReport['authority']['decision'], string>> = {
  allow: 'allowed',
  needs: 'approval needed',
  deny: 'denied',
  'not judged': 'not checked',
};

/** The decision, and the author of the change if known. */
export function permissionText({ decision, author }: CheckReport['authority']): string {
  return author === undefined ? PERMISSIONS[decision] : `${PERMISSIONS[decision]} (author: ${author})`;
}

/** A changed package: its catalogs, how its changes are classified, and details. */
function packageLine({ name, catalogs, classes, details }: CheckReport['packages'][number]): string {
  const where = catalogs.length > 0 ? ` in ${catalogs.join(', ')}` : '';
  const what = details.length > 0 ? `: ${details.join('; ')}` : '';
  return `  package ${plainText(name)}${where} (${classes.join(', ')})${plainText(what)}`;
}

/** How many findings the count before it leaves out, because they are waived or on the base branch. */
function alsoText({ known, waived }: CheckReport): string {
  const parts: string[] = [];
  if (waived.length > 0) parts.push(`${waived.length} waived`);
  if (known.length > 0) parts.push(`${known.length} already on the base branch`);
  return parts.length > 0 ? ` (and ${parts.join(', ')})` : '';
}

/** The upgrade impact on a package; the first line is its title. */
export function impactLines(diff: PlacedDiff): string[] {
  const title = `  ${plainText(diff.package)} (${diff.catalogs.join(', ')})`;
  return [title, ...diff.fates.flatMap(rowLines)];
}

/** What upgrades to new heads require, without what is only to know. */
function reviewTexts({ reviews = [], catalogs, package: packageName }: PlacedDiff): string[] {
  return reviews.flatMap((review) => [
    `  ${plainText(reviewTitle(review, `${packageName} in ${catalogs.join(', ')}`))}`,
    ...reviewLines(review, 'act').map((line) => `    ${plainText(line)}`),
  ]);
}

function rowLines({ channels, installed, v0, v1 }: UpgradeImpact): string[] {
  const who = `    ${plainText(channels.join(', '))}: installed ${plainText(shortList(installed))}`;
  return [who, ...impactLine('OLM v0', v0), ...impactLine('OLM v1', v1)];
}

/** What changes under one OLM; nothing where its upgrades stay the same. */
function impactLine(olm: string, states: BeforeAfter | undefined): string[] {
  if (!states) return [];
  const { before, after } = impactTexts(states);
  return [
    `      ${olm}: ${before === undefined ? plainText(after) : plainText(`before: ${before}; after: ${after}`)}`,
  ];
}

/** What an installation does before and after; before is absent where only the end of its upgrade path differs. */
export function impactTexts({ before, after }: BeforeAfter): {
  readonly before: string | undefined;
  readonly after: string;
} {
  // One that ends at no head any more is shown with where it ended before.
  if (after.next === '' && after.arrives) {
    return { before: undefined, after: `same next upgrade; the path now ends at ${after.end}` };
  }
  return {
    before: pathText(before),
    after: after.arrives ? pathText(after) : `${pathText(after)} (${after.why})`,
  };
}

/**
 * What OLM does with an installation: its next upgrade and where its path ends, such as `1.2.0, ending at 1.5.0`, else `up to
 * date`, `stuck` or `an error`.
 */
export function pathText({ next, kind, end, arrives }: PathSummary): string {
  const last = end === '' || end === next ? [] : [`ending at ${end}`];
  // A row of installations with different next upgrades: only where they end is told.
  if (next === '') return [...last, ...(arrives ? [] : ['stuck'])].join(', ');
  const stays = arrives ? 'up to date' : 'stuck';
  const first = kind === 'upgrade' ? next : kind === 'stays' ? stays : 'an error';
  const isCutShort = kind === 'upgrade' && !arrives;
  return [first, ...last, ...(isCutShort ? ['then stuck'] : [])].join(', ');
}

// The changes in a package's files: defaults, heads, entries and edges by channel.

/** Most lines of one list. */
const SHOWN = 40;

/** One line for each change; changes of a channel are indented below it. */
export function writtenLines({ defaultChannel, channels, bundles, deprecations }: PlacedDiff): string[] {
  return [
    ...(defaultChannel ? [`default channel: ${pairText(defaultChannel)}`] : []),
    ...channels.flatMap(channelLines),
    ...bundleLines(bundles),
    ...deprecations.map(({ kind, of, message }) => `deprecation of ${of} ${kind}: ${message}`),
  ];
}

function pairText({ before, after }: Pair): string {
  return `${before === '' ? 'none' : before} -> ${after === '' ? 'none' : after}`;
}

/** A channel's line with its new head, and below it the entries and edges that come or go. */
function channelLines({ channel, kind, head, added, removed, edges }: ChannelDiff): string[] {
  const moved = head ? `: head ${pairText(head)}` : '';
  return [
    `channel ${channel}${kind === 'changed' ? '' : ` (${kind})`}${moved}`,
    ...shortened([
      ...removed.map((name) => `  - entry ${name}`),
      ...added.map((name) => `  + entry ${name}`),
      ...edges.map(edgeLine),
    ]),
  ];
}

function edgeLine({ kind, to, field, from }: EdgeDiff): string {
  return `  ${kind === 'added' ? '+' : '-'} ${to} ${field} ${from}`;
}

function bundleLines(bundles: readonly BundleDiff[]): readonly string[] {
  return shortened(
    bundles.map(
      ({ bundle, kind, fields }) =>
        `bundle ${bundle} ${kind}${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`,
    ),
  );
}

/** The first lines of a long list, and how many more there are. */
function shortened(lines: readonly string[]): readonly string[] {
  return lines.length > SHOWN ? [...lines.slice(0, SHOWN), `  … and ${lines.length - SHOWN} more`] : lines;
}
