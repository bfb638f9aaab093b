/**
 * An audit as text: what to act on first, then each catalog in one line.
 */
import type { Finding } from '../../catalog/finding.ts';
import { groupedBy } from '../../catalog/go/grouped.ts';
import type { PathSummary } from '../../catalog/olm/foresight/upgrade-impact.ts';
import type { AuditReport, CatalogAudit } from '../check/audit.ts';
import type { ClusterAudit, Prospect } from '../check/prospects.ts';
import type { HarmfulMerge, HistoryAudit } from '../check/rehearsal/history.ts';
import { amountText, clustersText, countText, placeText, plainText, shortList } from '../text.ts';
import { catalogsText } from './catalogs-text.ts';
import { fleetLines } from './fleet-text.ts';
import { pathText } from './text-report.ts';

/** Findings of one package and rule that are written out; the rest are only counted. */
const SHOWN = 3;

interface AuditTextOptions {
  /** Whether informational findings are written out, too. */
  readonly all: boolean;
}

/** An audit as text: first what to do, then each catalog. */
export function auditText(report: AuditReport, { all }: AuditTextOptions): string {
  const order = report.catalogs.map(({ name }) => name);
  const shown = report.findings.filter(({ severity }) => all || severity !== 'info');
  const groups = groupedBy(shown, (one) => JSON.stringify([one.severity, one.package, one.rule]));
  const infos = report.findings.length - shown.length;
  const parts = [
    `${auditHeadline(report)}\n`,
    ...requestedLines(report).map((line) => `${line}\n`),
    overviewText(shown),
    ...[...groups.values()].map((group) => `\n${groupText(group, order, all)}`),
    `\n${report.catalogs.map(catalogLine).join('')}`,
    infos > 0 ? `${amountText(infos, 'informational finding')} not shown (use --all)\n` : '',
  ];
  return parts.join('');
}

/** The lines about a cluster, a fleet and past merges, if the user asked for them. */
export function requestedLines({ catalogs, cluster, fleet, history }: AuditReport): string[] {
  return [
    ...(cluster ? clusterLines(cluster) : []),
    ...(fleet ? fleetLines(fleet) : []),
    ...(history
      ? historyLines(
          history,
          catalogs.map(({ name }) => name),
        )
      : []),
  ];
}

/** Packages that are named in a line of the overview. */
const NAMED = 4;

/** One line for each rule; empty if the findings themselves are as short. */
function overviewText(findings: readonly Finding[]): string {
  const rules = new Map<string, { severity: string; rule: string; packages: Set<string> }>();
  for (const { severity, rule, package: packageName = 'the catalog' } of findings) {
    const key = `${severity} ${rule}`;
    const entry = rules.get(key) ?? { severity, rule, packages: new Set() };
    entry.packages.add(packageName);
    rules.set(key, entry);
  }
  if (findings.length <= rules.size) return '';
  const width = Math.max(...[...rules.values()].map(({ rule }) => rule.length));
  const lines = [...rules.values()].map(({ severity, rule, packages }) => {
    const named = [...packages].slice(0, NAMED).join(', ');
    const more = packages.size > NAMED ? ` and ${packages.size - NAMED} more` : '';
    return `  ${severity.toUpperCase().padEnd(7)} ${rule.padEnd(width)}  ${plainText(named)}${more}\n`;
  });
  return `\n${lines.join('')}`;
}

/** The audit in one line. */
export function auditHeadline({ catalogs, findings }: AuditReport): string {
  const packages = new Set(
    findings.filter(({ severity }) => severity === 'error').map((finding) => finding.package ?? ''),
  );
  const bundles = catalogs.reduce((sum, one) => sum + one.bundles, 0);
  const errors = packages.size === 0 ? 'no errors' : `errors in ${amountText(packages.size, 'package')}`;
  return `${amountText(catalogs.length, 'catalog')}, ${amountText(bundles, 'bundle')}: ${errors} (${countText(findings)})`;
}

/** A package's findings of one rule below their title. The first few stand for all unless `all` is set. */
function groupText(group: readonly Finding[], order: readonly string[], all: boolean): string {
  const [first] = group;
  if (!first) return '';
  const shown = all ? group : group.slice(0, SHOWN);
  const more = group.length - shown.length;
  return [
    `${first.severity.toUpperCase()} ${plainText(first.package ?? 'the catalog')}: ${first.rule}\n`,
    ...shown.map((finding) => findingText(finding, order)),
    more > 0 ? `  and ${more} more of this rule (use --all)\n` : '',
  ].join('');
}

/** A finding in two or three lines: its message, its place with the catalogs that have it, and its fix. */
function findingText(finding: Finding, order: readonly string[]): string {
  const { message, location, hint, catalogs = [] } = finding;
  const where = placeText(location);
  const fix = hint === undefined ? '' : `    fix: ${plainText(hint)}\n`;
  return `  ${plainText(message)}\n    ${where === '' ? 'in' : `at ${where}`} (${plainText(catalogsText(catalogs, order))})${clustersText(finding)}\n${fix}`;
}

/** The line of an audit about one catalog. */
export function catalogLine({ name, packages, bundles, served, reach, images }: CatalogAudit): string {
  const paths = reach.map(({ olm, installations, arrive }) =>
    installations === arrive
      ? `OLM ${olm}: ${arrive} of ${amountText(installations, 'installable version')} can reach a head`
      : `OLM ${olm}: ${installations - arrive} of ${amountText(installations, 'installable version')} cannot reach a head`,
  );
  const refused = served ? '' : ' opm serve REFUSES it, so clusters get nothing from it;';
  const pinned = `${images.pinned} of ${amountText(images.references, 'image')} by digest`;
  return `${plainText(name)}:${refused} ${amountText(packages, 'package')}, ${amountText(bundles, 'bundle')}; ${[...paths, pinned].join('; ')}\n`;
}

// A cluster's operators as lines: first those that are stuck now, then those that will be.

/** Lines about a cluster, the first of which is a headline. */
function clusterLines({ today, next, prospects, unknown }: ClusterAudit): string[] {
  const then = next.length > 0 ? `, then ${next.join(', ')}` : '';
  const stuckNow = prospects.filter((one) => !one.today.arrives);
  const stuckThen = prospects.filter((one) => one.today.arrives && one.next && !one.next.arrives);
  const holding = prospects.filter(({ holdsBack }) => holdsBack);
  const unaffectedCount = prospects.length - stuckNow.length - stuckThen.length;
  return [
    `cluster: ${amountText(prospects.length, 'operator')} checked against ${today.join(', ')}${then}: ${stuckNow.length} stuck now${next.length > 0 ? `, ${stuckThen.length} more after the platform upgrade` : ''}`,
    ...stuckNow.map((one) => `  STUCK NOW  ${prospectText(one, one.today)}`),
    ...stuckThen.map((one) => `  STUCK IN ${next.join(', ')}  ${prospectText(one, one.next)}`),
    ...holding.map((one) => `  BLOCKS THE PLATFORM UPGRADE  ${whoText(one)}: its olm.maxOpenShiftVersion`),
    ...(unaffectedCount > 0
      ? [
          `  ${amountText(unaffectedCount, 'operator')} can reach a channel head${next.length > 0 ? ', now and after the platform upgrade' : ''}`,
        ]
      : []),
    ...(unknown.length > 0
      ? [
          `  not checked, because no catalog that was given has them, or they are not installed yet: ${unknown.join(', ')}`,
        ]
      : []),
  ].map(plainText);
}

/** Whether any operator of the cluster has no upgrade path to a head, now or after the platform upgrade. */
export function isAnyStuck({ prospects }: ClusterAudit): boolean {
  return prospects.some(({ today, next }) => !today.arrives || next?.arrives === false);
}

/**
 * An operator of a cluster: the name of its subscription or extension, its package where that differs, and
 * what is installed.
 */
function whoText({ olm, namespace, name, package: packageName, installed, channels }: Prospect): string {
  const channel = channels.length > 0 ? `, channel ${channels.join(', ')}` : '';
  const own = name === packageName ? '' : ` of package ${packageName}`;
  return `${namespace === '' ? '' : `${namespace}/`}${name}${own} ${installed} (OLM ${olm}${channel})`;
}

/**
 * An operator and why its upgrade path stops. The text of the path leaves out that it is stuck: the reason
 * behind it says more.
 */
function prospectText(prospect: Prospect, summary: PathSummary | undefined): string {
  if (!summary) return whoText(prospect);
  const next =
    summary.kind === 'upgrade'
      ? ` upgrades to ${plainText(pathText({ ...summary, arrives: true }))}, then`
      : '';
  return `${whoText(prospect)}:${next} ${summary.why}`;
}

// Past merges that stranded or broke installations, as lines: the latest first.

/**
 * Lines about past merges, the first of which is a headline.
 *
 * @param order names of all catalogs, in the order of platforms
 */
function historyLines({ merges, harmful, unchecked }: HistoryAudit, order: readonly string[]): string[] {
  return [
    pastHeadline({ merges, harmful, unchecked }),
    ...harmful.flatMap((merge) => mergeLines(merge, order)),
    ...uncheckedLines({ unchecked }),
  ];
}

/** How many merges did harm. */
export function pastHeadline({ merges, harmful }: HistoryAudit): string {
  return `history: ${harmful.length} of ${amountText(merges, 'merge')} stranded or broke installations`;
}

/** What could not be checked, one line each. */
export function uncheckedLines({ unchecked }: Pick<HistoryAudit, 'unchecked'>): string[] {
  return unchecked.map(({ what, why }) => plainText(`  not checked: ${what}: ${why}`));
}

/** One merge: date, commit and subject, then what it did to which installations. */
export function mergeLines(
  { commit, date, subject, findings }: HarmfulMerge,
  order: readonly string[],
): string[] {
  const places = new Map<string, Set<string>>();
  for (const { rule, package: packageName = '', channel, installed = [], catalogs = [] } of findings) {
    const where = channel === undefined || channel === '' ? '' : `, channel ${channel}`;
    const who = installed.length > 0 ? `: installed ${shortList(installed)}` : '';
    const text = `${rule} ${packageName}${where}${who}`;
    places.set(text, new Set([...(places.get(text) ?? []), ...catalogs]));
  }
  const effectLines = [...places].map(
    ([text, catalogs]) => `    ${text} (${catalogsText([...catalogs], order)})`,
  );
  return [`  ${date} ${commit.slice(0, 12)} ${subject}`, ...effectLines].map(plainText);
}
