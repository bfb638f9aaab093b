/**
 * A report as Markdown: the job summary and the comment. Every text from a catalog
 * is escaped: it cannot mention people, link anywhere, or end a table.
 */
import type { Location } from '../../catalog/finding.ts';
import type { BeforeAfter, UpgradeImpact } from '../../catalog/olm/foresight/upgrade-impact.ts';
import {
  type CheckReport,
  enforcedState,
  headlineOf,
  notEnforcedLines,
  type PlacedDiff,
} from '../check/report.ts';
import { amountText, clustersText, countText, fileLineText, plainText, shortList } from '../text.ts';
import { type Part, withinBudget } from './budget.ts';
import { fleetLines, flowRows } from './fleet-text.ts';
import { mermaidText } from './pictures/mermaid.ts';
import { reviewLines, reviewTitle } from './review-text.ts';
import { rulePage } from './rule-help.ts';
import {
  contextLines,
  disconnectedLines,
  gateLines,
  impactTexts,
  permissionText,
  releasedLines,
  writtenLines,
} from './text-report.ts';

/** Most bytes of a comment, of which GitHub takes 65,536 characters, and of a check run's summary. */
export const COMMENT_BYTES = 65_000;

/** Most bytes of a step's summary. */
const SUMMARY_BYTES = 1024 * 1024;

interface MarkdownOptions {
  /** Most bytes; what does not fit is left out, least important first, and the report says so. */
  readonly most?: number;
  /** Where the repository's pages are, for example `https://github.com`; without it the report has no links. */
  readonly server?: string | undefined;
}

/** The report as Markdown. Its first line says who must act. */
export function markdownReport(
  report: CheckReport,
  { most = SUMMARY_BYTES, server }: MarkdownOptions = {},
): string {
  const parts: Part[] = [
    { text: `## ${verdictSign(report)} ${escapedMarkdown(headlineOf(report))}` },
    { text: nextStep(report) },
    { text: indentedList((report.gates ?? []).flatMap(gateLines)), cuttable: true },
    { text: fleetText(report), cuttable: true },
    ...report.diffs
      .filter((diff) => diff.fates.length > 0)
      .map((diff) => ({ text: impactTable(diff), cuttable: true })),
    { text: findingsText(report, server), cuttable: true, isFirst: true },
    { text: authorityText(report), cuttable: true, isFirst: true },
    { text: packagesTable(report), cuttable: true },
    { text: releasedText(report), cuttable: true },
    { text: disconnectedText(report), cuttable: true },
    ...report.diffs.flatMap(reviewTexts).map((text) => ({ text })),
    ...changesText(report.diffs, most * DRAWN).map((text) => ({ text })),
    { text: uncheckedText(report), cuttable: true, isFirst: true },
    { text: aboutText(report), isFirst: true },
  ];
  return withinBudget(parts, most);
}

/** The sign before the title: what the gate would do comes first, then what is still missing. */
function verdictSign(report: CheckReport): string {
  if (report.enforce === 'off') return '👀';
  if (enforcedState(report) === 'failure') return '❌';
  if (report.verdict === 'inconclusive') return '❔';
  const { authority, holds, waitsFor } = report;
  return authority.decision === 'needs' || holds.length + waitsFor.length > 0 ? '⏳' : '✅';
}

/** Who must act now; empty where the first line says it, or nobody must. */
function nextStep({ verdict, authority, findings, enforce }: CheckReport): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (enforce === 'off' || verdict !== 'fail' || authority.decision === 'deny' || errors === 0) return '';
  const then = authority.needs.length > 0 ? ' Then it needs the approvals below.' : '';
  return `**Next:** the author fixes ${amountText(errors, 'error')}.${then}`;
}

/** The permissions and what the pull request waits for. */
function authorityText(report: CheckReport): string {
  const { authority, policy, holds, waitsFor, byHand = [] } = report;
  const lines = [
    `Permissions: **${escapedMarkdown(permissionText(authority))}**. Policy: ${escapedMarkdown(policy.source)}.`,
  ];
  for (const line of notEnforcedLines(report)) lines.push(`- ${escapedMarkdown(line)}`);
  for (const need of authority.needs) lines.push(`- ${escapedMarkdown(need)}`);
  for (const hold of holds) lines.push(`- on hold: ${escapedMarkdown(hold)}`);
  for (const why of byHand) lines.push(`- not merged by Portolan: ${escapedMarkdown(why)}`);
  for (const wait of waitsFor) lines.push(`- waiting: ${escapedMarkdown(wait)}`);
  for (const warning of authority.warnings) lines.push(`- ${escapedMarkdown(warning)}`);
  return lines.join('\n');
}

function packagesTable({ packages }: CheckReport): string {
  if (packages.length === 0) return 'No package changes.';
  const rows = packages.map(({ name, catalogs, classes, details }) =>
    row([name, catalogs.join(', '), classes.join(', '), details.join('; ')]),
  );
  return ['| package | catalogs | change | details |', '|---|---|---|---|', ...rows].join('\n');
}

function releasedText({ released = [] }: CheckReport): string {
  return indentedList(released.flatMap(releasedLines));
}

function disconnectedText({ disconnected = [] }: CheckReport): string {
  return indentedList(disconnected.flatMap(disconnectedLines));
}

/** The fleet in numbers, and below them where its clusters go. */
function fleetText({ fleet }: CheckReport): string {
  if (!fleet) return '';
  const rows = flowRows(fleet);
  if (rows.length === 0) return indentedList(fleetLines(fleet));
  const table = [
    '| package | platform | installed | next | end | clusters |',
    '|---|---|---|---|---|---|',
    ...rows.map(row),
  ];
  const folded = ['<details><summary>Where the clusters go</summary>', table.join('\n'), '</details>'];
  return [indentedList(fleetLines(fleet)), ...folded].join('\n\n');
}

function indentedList(lines: readonly string[]): string {
  return lines
    .map((line) =>
      line.startsWith('  ') ? `  - ${escapedMarkdown(line.trim())}` : `- ${escapedMarkdown(line)}`,
    )
    .join('\n');
}

/** The upgrade impact on a package, as a table. */
export function impactTable(diff: PlacedDiff): string {
  const title = `### Upgrade impact: ${escapedMarkdown(diff.package)} (${escapedMarkdown(diff.catalogs.join(', '))})`;
  const head = [
    '| channel | installed | OLM v0 before | after | OLM v1 before | after |',
    '|---|---|---|---|---|---|',
  ];
  return [title, '', ...head, ...diff.fates.map(impactRow)].join('\n');
}

function impactRow({ channels, installed, v0, v1 }: UpgradeImpact): string {
  return row([channels.join(', '), shortList(installed), ...impactCells(v0), ...impactCells(v1)]);
}

/** What the upgrades to new heads require of whoever approves them, each folded. */
function reviewTexts({ reviews = [], catalogs, package: packageName }: PlacedDiff): string[] {
  return reviews.map((review) => {
    const { images } = review;
    const command =
      images && `- All changes: ${codeSpan(`portolan diff --bundle ${images.from} ${images.to}`)}`;
    return [
      `<details><summary>${escapedMarkdown(reviewTitle(review, `${packageName} in ${catalogs.join(', ')}`))}</summary>`,
      [indentedList(reviewLines(review)), ...(command === undefined ? [] : [command])].join('\n'),
      '</details>',
    ].join('\n\n');
  });
}

/** Share of a report that diagrams may take: without a limit they would push out the texts behind them. */
const DRAWN = 0.6;

/** What changes in the catalogs, with all diagrams. */
export function changesMarkdown(diffs: readonly PlacedDiff[]): string {
  if (diffs.length === 0) return 'No changes.\n';
  return `${changesText(diffs, Number.POSITIVE_INFINITY).join('\n\n')}\n`;
}

/** The changes in the files, folded, with upgrade graphs while there is room. @param most characters of all graphs */
function changesText(diffs: readonly PlacedDiff[], most: number): string[] {
  let room = most;
  return diffs.map((diff) => {
    const whole = mermaidText(diff.graph, true);
    const diagram = whole !== undefined && whole.length <= room ? whole : undefined;
    room -= diagram?.length ?? 0;
    const title = `Changes in the files: ${escapedMarkdown(diff.package)} (${escapedMarkdown(diff.catalogs.join(', '))})`;
    return [
      `<details><summary>${title}</summary>`,
      writtenMarkdown(diff),
      ...(diagram === undefined ? [] : [`\`\`\`mermaid\n${diagram}\`\`\``]),
      '</details>',
    ].join('\n\n');
  });
}

/**
 * The two cells of an OLM, before and after. The first is empty where there is nothing to compare: nothing
 * changes under this OLM, or only the end of the path does.
 */
function impactCells(states: BeforeAfter | undefined): [string, string] {
  if (!states) return ['', 'unchanged'];
  const { before = '', after } = impactTexts(states);
  return [before, after];
}

/** The table of findings. */
function findingsText(report: CheckReport, server: string | undefined): string {
  const { findings } = report;
  if (findings.length === 0) return '';
  const rows = findings.map((finding) => {
    const { severity, rule, message, location, hint, catalogs } = finding;
    const where = catalogs && catalogs.length > 1 ? ` (${catalogs.join(', ')})` : '';
    const also = where + clustersText(finding);
    return `| ${severity} | ${placeLink(location, pagesOf(report, server))} | ${escapedMarkdown(message + also)} | ${hint === undefined ? '' : codeSpan(hint)} | ${ruleText(rule)} |`;
  });
  return [
    `### ${countText(findings)}`,
    '',
    '| severity | where | finding | fix | rule |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** The name of a rule, as a link to its page. */
function ruleText(rule: string): string {
  const page = rulePage(rule);
  return page === undefined ? codeSpan(rule) : `[${codeSpan(rule)}](${page})`;
}

/** Where the head's files are shown; undefined where nobody said it. */
function pagesOf({ request, head }: CheckReport, server: string | undefined): string | undefined {
  return request && server !== undefined ? `${server}/${request.repository}/blob/${head}` : undefined;
}

/** A finding's place, as a link to its line where the pages of the files are known. */
function placeLink(location: Location, pages: string | undefined): string {
  const { file, line } = location;
  if (file === '') return '';
  const where = codeSpan(fileLineText(location));
  if (pages === undefined) return where;
  // Every character that ends a link, a cell or a line is written as bytes.
  const path = file.split('/').map((name) => encodeURIComponent(name).replaceAll(/[()'*!~_]/g, escapedByte));
  return `[${where}](${pages}/${path.join('/')}#L${line})`;
}

/** A character of ASCII as in a URL. `encodeURIComponent` leaves these, but Markdown gives them a meaning. */
function escapedByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** What somebody must know who trusts the report: what nobody looked at. */
function uncheckedText({ unchecked, omitted = [] }: CheckReport): string {
  const lines = [
    ...omitted.map((what) => `Left out of this report: ${escapedMarkdown(what)}`),
    ...unchecked.map(({ what, why }) => `Not checked: ${escapedMarkdown(what)}: ${escapedMarkdown(why)}`),
  ];
  return lines.join('\n\n');
}

/** Folded: how to repeat the check, and what does not count. */
function aboutText(report: CheckReport): string {
  const { known, waived, base, head, context } = report;
  const lines = [
    `Reproduce: ${codeSpan(`portolan check --base ${base} --head ${head}${authorText(report)}`)}`,
  ];
  if (known.length > 0) lines.push(`${amountText(known.length, 'more finding')} already on the base branch.`);
  for (const { finding, until, reason } of waived) {
    lines.push(
      `Waived until ${until}: ${codeSpan(finding.rule)} ${escapedMarkdown(finding.message)} (${escapedMarkdown(reason)})`,
    );
  }
  for (const line of contextLines({ context })) lines.push(line.trim());
  return ['<details><summary>About this check</summary>', ...lines, '</details>'].join('\n\n');
}

/** The option that names the author, so that permissions are checked; empty if the name would need escaping in a shell. */
function authorText({ authority: { author = '' } }: CheckReport): string {
  if (!/^[A-Za-z0-9_-]+(?:\[bot\])?$/.test(author)) return '';
  return ` --author ${author.endsWith(']') ? `'${author}'` : author}`;
}

/** The changes in a package's files, as a list. */
export function writtenMarkdown(diff: PlacedDiff): string {
  return writtenLines(diff)
    .map((line) => (line.startsWith('  ') ? `  - ${codeSpan(line.trim())}` : `- ${escapedMarkdown(line)}`))
    .join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(escapedMarkdown).join(' | ')} |`;
}

/** What a backslash does not keep from being HTML. */
const ENTITIES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' };

/**
 * Text that Markdown shows literally: no markup, formulas, mentions, links or ends of cells. GitHub looks for mentions, addresses and
 * issues (`#1`, `owner/name#1`, `GH-1`) in what has been rendered, so that a backslash does not help.
 */
export function escapedMarkdown(text: string): string {
  return (
    plainText(text)
      .replaceAll(/[\\`*_{}[\]()#+!|~<>&$-]/g, (c) => ENTITIES[c] ?? `\\${c}`)
      // From here on a space without width takes words apart: `#1` is `\#1` by now, and `GH-1` is `GH\-1`.
      .replaceAll('@', '@\u200b')
      .replaceAll(/(\\#|\bGH\\-)(?=\d)/gi, '$1\u200b')
      .replaceAll(/(https?|ftp):/gi, '$1\u200b:')
      .replaceAll(/www\./gi, 'www\u200b.')
  );
}

/** A code span around any text: a fence that is longer than each run of backticks in it, and `\|` for what ends a cell. */
export function codeSpan(text: string): string {
  const shown = plainText(text).replaceAll('|', '\\|');
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}
