/** The first line of a report: the worst effect on clusters, or who must act. */
import type { Finding } from '../../../catalog/finding.ts';
import { effectOf, HARM_RANKS } from '../../../catalog/rules/effect.ts';
import { listed, MOST_LISTED } from '../../../catalog/rules/message-text.ts';
import { quoted } from '../../../catalog/rules/rule.ts';
import { amountText, fileLineText } from '../../text.ts';
import type { AuthorityDecision } from '../authority/authority.ts';
import type { CheckReport, Verdict } from '../report.ts';

export interface Checked {
  readonly verdict: Verdict;
  /** The findings that decide the result, the most serious first. */
  readonly findings: readonly Finding[];
  /** Errors that do not count, by the policy. */
  readonly uncounted: number;
  readonly authority: AuthorityDecision | undefined;
  readonly unchecked: CheckReport['unchecked'];
  readonly incomplete: string | undefined;
  /** A template that is changed where no catalog is. */
  readonly template: string | undefined;
}

/** What a pull request lacks, and what the merge would do to clusters, short enough for a commit status of GitHub. */
export function headlineFor(checked: Checked): string {
  const { verdict, findings, authority, unchecked, incomplete } = checked;
  if (authority?.authority === 'deny') return authority.headline;
  if (verdict === 'fail' && findings.length > 0) return effectText(findings);
  const [first] = unchecked;
  if (verdict === 'inconclusive' && first)
    return `cannot look up every image that the pull request adds: ${first.why}`;
  if (verdict === 'inconclusive' && incomplete !== undefined) return `the check is incomplete: ${incomplete}`;
  if (authority && authority.authority === 'needs') return authority.headline;
  const passed = passedText(checked);
  if (!authority) return `${passed}; permissions were not checked (no --author)`;
  const [hold] = authority.holds;
  const [byHand] = authority.byHand;
  if (hold !== undefined) return `allowed, and ${passed}, but on hold: ${hold}`;
  return `allowed, and ${passed}${byHand === undefined ? '' : `; ${byHand}`}`;
}

/** The headline of a check that passed, with its warnings: in words if somebody may be left without an upgrade. */
function passedText({ uncounted, template, findings }: Checked): string {
  const passed =
    uncounted === 0
      ? 'all checks passed'
      : `all enforced checks passed; ${amountText(uncounted, 'error')} of rules that are not enforced`;
  if (template !== undefined) {
    return `${passed}, but no catalog was checked: ${JSON.stringify(template)} is a template`;
  }
  // Who is left without an upgrade is what people must see, even if the policy lets it pass.
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  const harmful = warnings.filter((finding) => effectOf(finding) || HARM_RANKS.has(finding.rule));
  if (harmful.length > 0) return `${passed}, with a warning: ${effectText(harmful)}`;
  return warnings.length === 0 ? passed : `${passed}, with ${amountText(warnings.length, 'warning')}`;
}

/** Most characters that GitHub shows of a commit status. */
const STATUS_CHARACTERS = 140;

/** `etcd: 1.6.1 and 1.7.0 lose their upgrade path (OLM v0); 12 more errors`. */
function effectText(findings: readonly Finding[]): string {
  // Reports list errors before warnings. Among those, the effect on clusters decides.
  const [first] = findings;
  if (!first) return '';
  const severe = findings.filter(({ severity }) => severity === first.severity);
  const worst = severe.toSorted((a, b) => rankOf(a) - rankOf(b))[0] ?? first;
  const alike = severe.filter((one) => one === worst || isSameEffect(one, worst));
  const rest = restText(severe.length - alike.length, first.severity);
  const room = STATUS_CHARACTERS - rest.length;
  return (strandedText(alike, room) ?? shortenedClauses(messageText(worst), room)) + rest;
}

/** Findings that harm clusters most have the lowest rank; harmless ones come last. */
function rankOf({ rule }: Finding): number {
  return HARM_RANKS.get(rule) ?? Number.MAX_VALUE;
}

function restText(more: number, severity: string): string {
  return more === 0 ? '' : `; ${amountText(more, `more ${severity}`)}`;
}

/** Whether two findings have the same effect on one package, so that one line can list the versions of both. */
function isSameEffect(one: Finding, other: Finding): boolean {
  const [effect, known] = [effectOf(one), effectOf(other)];
  return known !== undefined && effect?.many === known.many && one.package === other.package;
}

/** The stranded versions, as many as fit; undefined if not even one does, or if the finding names none. */
function strandedText(alike: readonly Finding[], room: number): string | undefined {
  const [first] = alike;
  const effect = first && effectOf(first);
  if (!effect || first.package === undefined) return undefined;
  // Making a collator takes 5 ms, which a check that passes need not spend.
  const inOrder = new Intl.Collator('en', { numeric: true });
  const versions = [...new Set(alike.flatMap(({ installed = [] }) => installed))].sort(inOrder.compare);
  const olms = [...new Set(alike.flatMap((one) => effectOf(one)?.olm ?? []))].sort();
  const under = olms.length === 0 ? '' : ` (OLM ${olms.join(' and ')})`;
  const texts = Array.from({ length: Math.min(MOST_LISTED, versions.length) }, (_, i) => {
    const shown = versions.slice(0, i + 1);
    const does = versions.length === 1 ? effect.one : effect.many;
    return `${first.package}: ${listed(shown, versions.length)} ${does}${under}`;
  });
  return texts.findLast((text) => text.length <= room);
}

/** The text of a finding, after its package or its location. */
function messageText({ message, package: name, location }: Finding): string {
  const place = fileLineText(location);
  if (name === undefined) return place === '' ? message : `${place}: ${message}`;
  const of = `package ${quoted(name)}`;
  return message.startsWith(of) ? message : `${name}: ${message.replace(` of ${of}`, '')}`;
}

/** A text that fits: without its last clauses, if that leaves at least half of the room filled, or else cut. */
function shortenedClauses(text: string, room: number): string {
  if (text.length <= room) return text;
  const ends = [': ', '; ', ', '].map((mark) => text.indexOf(mark, room / 2));
  const end = Math.min(...ends.filter((at) => at > 0 && at <= room));
  return Number.isFinite(end) ? text.slice(0, end) : `${text.slice(0, room - 1)}…`;
}
