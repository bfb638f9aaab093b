/**
 * A fleet in numbers, as lines: what a merge, or a catalog as it is, does to how many clusters. No line has a name of a
 * cluster, so that all of them may be public.
 */
import {
  type FleetReport,
  type Flow,
  notKnownCounts,
  type OutcomeCount,
  type PackageFleet,
} from '../../catalog/olm/fleet/count.ts';
import { type OutcomeName, STUCK } from '../../catalog/olm/fleet/outcome.ts';
import { amountText, plainText } from '../text.ts';
import { installedText } from './pictures/fleet-streams.ts';

/** Versions, or versions of the platform, that a line names. */
const NAMED = 3;

/** Packages that get a line. */
const LINES = 20;

/** Lines about a fleet: one for all its clusters, and one for each package where there are several. */
export function fleetLines({ clusters, outcomes, packages, unread }: FleetReport): string[] {
  if (clusters === 0) return ['fleet: no cluster has these packages'];
  // The flows of a single package are told in the line for all clusters.
  const [only] = packages;
  const flows = only && packages.length === 1 ? only.flows : [];
  const unreadText = unread > 0 ? ` (${countText(unread)} of them from rows that cannot be read)` : '';
  const listed = packages.length === 1 ? [] : packages.filter(isWorthALine);
  const more = listed.length - LINES;
  return [
    `fleet: ${outcomesText({ clusters, outcomes, flows })}${unreadText}`,
    ...listed
      .slice(0, LINES)
      .map(
        (one) =>
          `  ${one.package === '' ? 'unknown packages' : plainText(one.package)}: ${outcomesText(one)}`,
      ),
    ...(more > 0 ? [`  and ${amountText(more, 'more package')}`] : []),
  ];
}

/** Whether anything happens to the clusters of a package. */
function isWorthALine({ outcomes }: PackageFleet): boolean {
  return outcomes.some(({ outcome }) => !QUIET.has(outcome));
}

/** Outcomes that nobody need know of: a package with no other gets no line, and such flows no row. */
const QUIET: ReadonlySet<OutcomeName> = new Set(['upgrades', 'unchanged', 'head', 'not-reached']);

/** `1,480`. */
function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `312 of 1,480 clusters (21 %)`. */
function shareText(count: number, total: number): string {
  const percent = (100 * count) / total;
  // Rounded to 0 % or 100 %, the line would deny that some clusters are concerned or that some are not.
  const text =
    percent > 0 && percent < 1 ? '<1' : percent > 99 && percent < 100 ? '>99' : String(Math.round(percent));
  return `${countText(count)} of ${countText(total)} ${total === 1 ? 'cluster' : 'clusters'} (${text} %)`;
}

type ClusterCounts = Pick<PackageFleet, 'clusters' | 'outcomes' | 'flows'>;

/** The outcomes of clusters in one line. The first says of how many clusters, the others need not. */
function outcomesText({ clusters, outcomes, flows }: ClusterCounts): string {
  const parts = outcomes.map((one, i) => outcomeText(one, { total: i === 0 ? clusters : undefined, flows }));
  return parts.join('; ');
}

/** What is said of each outcome after the number of clusters: of one cluster, and of several. */
const WORDS: Readonly<Record<OutcomeName, readonly [one: string, several: string]>> = {
  strands: ['loses its upgrade path', 'lose their upgrade path'],
  'not-known': ['cannot be simulated', 'cannot be simulated'],
  moves: ['upgrades on the day of the merge', 'upgrade on the day of the merge'],
  offered: ['gets an upgrade that somebody must approve', 'get an upgrade that somebody must approve'],
  stops: ['no longer upgrades', 'no longer upgrade'],
  recovers: ['can reach a channel head again', 'can reach a channel head again'],
  stuck: ['has no upgrade path to a channel head', 'have no upgrade path to a channel head'],
  'stuck-next': [
    'loses its upgrade path with the next version of the platform',
    'lose their upgrade path with the next version of the platform',
  ],
  upgrades: ['upgrades', 'upgrade'],
  unchanged: ['is not affected', 'are not affected'],
  head: ['is at a channel head', 'are at a channel head'],
  'not-reached': ['uses a catalog that does not change', 'use catalogs that do not change'],
};

function wordsOf(outcome: OutcomeName, clusters: number): string {
  return WORDS[outcome][clusters === 1 ? 0 : 1];
}

/** How many clusters have an outcome, in words. */
function outcomeText(
  { outcome, clusters, platforms }: OutcomeCount,
  { total, flows }: { readonly total: number | undefined; readonly flows: readonly Flow[] },
): string {
  const number = total === undefined ? countText(clusters) : shareText(clusters, total);
  const flowsOfIt = flows.filter((flow) => flow.outcome === outcome);
  if (outcome === 'strands') return `strands ${number}${platformsText(platforms, clusters)}`;
  if (outcome === 'not-known') return `${number} ${wordsOf(outcome, clusters)}${notKnownText(flowsOfIt)}`;
  if (outcome === 'moves' || outcome === 'offered' || outcome === 'upgrades') {
    return movesText({ outcome, clusters, number }, flowsOfIt);
  }
  const where = STUCK.has(outcome) ? platformsText(platforms, clusters) : '';
  return `${number} ${wordsOf(outcome, clusters)}${where}`;
}

/** `, of them 40 on 4.18, 3 on 4.17`, or `, all on 4.18`; nothing where no cluster's platform is known. */
function platformsText(platforms: OutcomeCount['platforms'], clusters: number): string {
  const sorted = platforms.filter(({ platform }) => platform !== '').sort((a, b) => b.clusters - a.clusters);
  const [first] = sorted;
  if (!first) return '';
  if (sorted.length === 1 && first.clusters === clusters) return `, all on ${first.platform}`;
  const named = sorted.slice(0, NAMED).map((one) => `${countText(one.clusters)} on ${one.platform}`);
  return `, of them ${named.join(', ')}${sorted.length > NAMED ? ', …' : ''}`;
}

/** To which versions clusters move, in words: `40 move to 1.2.0`, or `40 move (30 to 1.2.0, 10 to 1.3.0)`. */
function movesText(
  { outcome, clusters, number }: { outcome: OutcomeName; clusters: number; number: string },
  flows: readonly Flow[],
): string {
  const ends = new Map<string, number>();
  for (const { end, clusters: its } of flows) ends.set(end, (ends.get(end) ?? 0) + its);
  const sorted = [...ends].sort((a, b) => b[1] - a[1]);
  const [first] = sorted;
  if (!first) return `${number} ${wordsOf(outcome, clusters)}`;
  const named = sorted.slice(0, NAMED).map(([end, its]) => `${countText(its)} to ${plainText(end)}`);
  const more = sorted.length > NAMED ? ', …' : '';
  const isOne = sorted.length === 1;
  if (outcome === 'offered')
    return `${number} ${wordsOf(outcome, clusters)} (${isOne ? plainText(first[0]) : named.join(', ')}${more})`;
  const verb = clusters === 1 ? 'moves' : 'move';
  const day = outcome === 'moves' ? ' on the day of the merge' : '';
  return isOne
    ? `${number} ${verb} to ${plainText(first[0])}${day}`
    : `${number} ${verb}${day} (${named.join(', ')}${more})`;
}

/** What keeps clusters from being simulated, with the number of clusters for each. */
function notKnownText(flows: readonly Flow[]): string {
  const counts = notKnownCounts({ flows });
  if (counts.length === 0) return '';
  return ` (unknown ${counts.map(({ what, clusters }) => `${what}: ${countText(clusters)}`).join(', ')})`;
}

/** Rows of a table of flows. */
const ROWS = 20;

/** The largest flows on which a merge has an effect, as cells of a table: package, platform, versions, clusters. */
export function flowRows({ packages }: Pick<FleetReport, 'packages'>): string[][] {
  const all = packages.flatMap(({ package: packageName, flows }) =>
    flows.filter(({ outcome }) => !QUIET.has(outcome)).map((flow) => ({ packageName, flow })),
  );
  const sorted = all.sort((a, b) => b.flow.clusters - a.flow.clusters);
  const rest = sorted.slice(ROWS);
  return [
    ...sorted.slice(0, ROWS).map(({ packageName, flow }) => flowCells(packageName, flow)),
    ...(rest.length > 0
      ? [
          [
            '',
            '',
            `${amountText(rest.length, 'more flow')}`,
            '',
            '',
            countText(rest.reduce((sum, { flow }) => sum + flow.clusters, 0)),
          ],
        ]
      : []),
  ];
}

/**
 * A flow as a row of the table. An installation without a next step is at a head, unless its outcome is to be
 * stuck.
 */
function flowCells(packageName: string, flow: Flow): string[] {
  const { platform, next, clusters, notKnown } = flow;
  const none = STUCK.has(flow.outcome) ? 'no upgrade' : 'up to date';
  const then = notKnown ? `unknown ${notKnown}` : next || none;
  return [packageName, platform, installedText(flow), then, endText(flow), countText(clusters)];
}

/** Where a flow ends, and what is wrong with it. */
function endText({ outcome, end, notKnown }: Flow): string {
  if (notKnown) return '';
  if (!STUCK.has(outcome)) return end;
  return end === '' ? 'STUCK' : `${end}: STUCK`;
}
