/**
 * An audit as text: what to act on first, then each catalog in one line.
 */

import type { Finding } from '../../catalog/finding.ts';
import { append } from '../../catalog/go/grouped.ts';
import type { AuditReport, CatalogAudit } from '../check/audit.ts';
import { amount, clustersText, countText, placeText, plain } from '../text.ts';
import { catalogsText } from './catalogs-text.ts';
import { clusterLines } from './cluster-text.ts';
import { fleetLines } from './fleet-text.ts';
import { historyLines } from './history-text.ts';

/** Findings of one package and rule that are written out; the rest are only counted. */
const SHOWN = 3;

interface AuditTextOptions {
  /** Whether informational findings are written out, too. */
  readonly all: boolean;
}

export function auditText(report: AuditReport, { all }: AuditTextOptions): string {
  const order = report.catalogs.map(({ name }) => name);
  const shown = report.findings.filter(({ severity }) => all || severity !== 'info');
  const groups = [...groupsOf(shown).values()];
  const infos = report.findings.length - shown.length;
  const parts = [
    `${headline(report)}\n`,
    ...asked(report).map((line) => `${line}\n`),
    overviewText(shown),
    ...groups.map((group) => `\n${groupText(group, order, all)}`),
    `\n${report.catalogs.map(catalogLine).join('')}`,
    infos > 0 ? `${amount(infos, 'informational finding')} not shown (use --all)\n` : '',
  ];
  return parts.join('');
}

/** The lines about a cluster, a fleet and past merges, if the user asked for them. */
export function asked({ catalogs, cluster, fleet, history }: AuditReport): string[] {
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
  for (const { severity, rule, package: of = 'the catalog' } of findings) {
    const key = `${severity} ${rule}`;
    const known = rules.get(key) ?? { severity, rule, packages: new Set() };
    known.packages.add(of);
    rules.set(key, known);
  }
  if (findings.length <= rules.size) return '';
  const width = Math.max(...[...rules.values()].map(({ rule }) => rule.length));
  const lines = [...rules.values()].map(({ severity, rule, packages }) => {
    const named = [...packages].slice(0, NAMED).join(', ');
    const more = packages.size > NAMED ? ` and ${packages.size - NAMED} more` : '';
    return `  ${severity.toUpperCase().padEnd(7)} ${rule.padEnd(width)}  ${plain(named)}${more}\n`;
  });
  return `\n${lines.join('')}`;
}

/** The audit in one line. */
export function headline({ catalogs, findings }: AuditReport): string {
  const packages = new Set(
    findings.filter(({ severity }) => severity === 'error').map((finding) => finding.package ?? ''),
  );
  const bundles = catalogs.reduce((sum, one) => sum + one.bundles, 0);
  const errors = packages.size === 0 ? 'no errors' : `errors in ${amount(packages.size, 'package')}`;
  return `${amount(catalogs.length, 'catalog')}, ${amount(bundles, 'bundle')}: ${errors} (${countText(findings)})`;
}

/** Findings of one package and rule together, most serious first. */
function groupsOf(findings: readonly Finding[]): Map<string, Finding[]> {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.severity, finding.package, finding.rule]);
    append(groups, key, finding);
  }
  return groups;
}

function groupText(group: readonly Finding[], order: readonly string[], all: boolean): string {
  const [first] = group;
  if (!first) return '';
  const shown = all ? group : group.slice(0, SHOWN);
  const more = group.length - shown.length;
  return [
    `${first.severity.toUpperCase()} ${plain(first.package ?? 'the catalog')}: ${first.rule}\n`,
    ...shown.map((finding) => oneText(finding, order)),
    more > 0 ? `  and ${more} more of this rule (use --all)\n` : '',
  ].join('');
}

function oneText(finding: Finding, order: readonly string[]): string {
  const { message, location, hint, catalogs = [] } = finding;
  const where = placeText(location);
  const fix = hint === undefined ? '' : `    fix: ${plain(hint)}\n`;
  return `  ${plain(message)}\n    ${where === '' ? 'in' : `at ${where}`} (${plain(catalogsText(catalogs, order))})${clustersText(finding)}\n${fix}`;
}

/** A catalog in one line. */
export function catalogLine({ name, packages, bundles, served, reach, images }: CatalogAudit): string {
  const paths = reach.map(({ olm, installations, arrive }) =>
    installations === arrive
      ? `OLM ${olm}: ${arrive} of ${amount(installations, 'installable version')} can reach a head`
      : `OLM ${olm}: ${installations - arrive} of ${amount(installations, 'installable version')} cannot reach a head`,
  );
  const refused = served ? '' : ' opm serve REFUSES it, so clusters get nothing from it;';
  const pinned = `${images.pinned} of ${amount(images.references, 'image')} by digest`;
  return `${plain(name)}:${refused} ${amount(packages, 'package')}, ${amount(bundles, 'bundle')}; ${[...paths, pinned].join('; ')}\n`;
}
