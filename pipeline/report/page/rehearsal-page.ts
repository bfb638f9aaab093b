/** A rehearsal as one HTML file without scripts, which opens anywhere and asks nobody for anything. */
import { countsOf, orphansOf, type Rehearsal, stoppedOf } from '../../check/rehearsal/rehearsal.ts';
import type { RehearsedMerge } from '../../check/rehearsal/tally.ts';
import { amountText, escapeXml, shortList } from '../../text.ts';
import { NAMING, packageText, rehearsalHeadline, rehearsalNotes, worstLines } from '../rehearsal-text.ts';
import { ruleLink } from '../rule-help.ts';
import { part, staticPage } from './static-page.ts';

interface RehearsalPage {
  readonly rehearsal: Rehearsal;
  /** What the repository is called. */
  readonly name: string;
  /** Where the policy came from, and its text. */
  readonly policy: { readonly source: string; readonly text: string };
}

/** Accounts that are shown at once. */
const MOST_PEOPLE = 15;

const OWN_STYLE = [
  'main{max-width:72rem;margin:0 auto}main,header{overflow-wrap:anywhere}header{display:block;padding:.6rem max(1.2rem,calc((100vw - 72rem)/2 + 1.2rem))}header p{margin:0;color:var(--dim)}',
  'h2{margin:2rem 0 .4rem;font-size:1.3rem;line-height:1.25}details{margin:.3rem 0}details ul{margin:.3rem 0}summary{cursor:pointer}',
  '.worst{font-size:1.15rem;margin:1rem 0;padding-left:.8rem;border-left:4px solid var(--gone)}',
  '.tiles{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.8rem;margin:1rem 0}',
  '.tile{border:1px solid var(--edge);border-radius:8px;padding:.5rem .9rem;background:var(--box)}.tile b{display:block;font-size:2rem;line-height:1.2}',
  '.tile.good b{color:var(--good)}.tile.wait b{color:var(--bad)}.tile.stop b{color:var(--gone)}.tile.good{color:inherit;margin:0}',
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--edge)}td{overflow-wrap:anywhere}th,.day,td.number{white-space:nowrap}',
  '.bar{display:block;height:.6rem;min-width:2px;margin-top:.45rem;background:var(--gone);border-radius:3px}.bar.people{background:var(--link)}td.bars{width:30%}.unit{display:none}.hash{display:block}',
  'pre{background:var(--box);border:1px solid var(--edge);border-radius:8px;padding:.7rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere}.table{overflow-x:auto}',
  // On a phone the cells of a row with sentences stand below each other.
  '@media(max-width:46rem){main{padding:.6rem}header{padding:.6rem}th,td{padding-right:.5rem}td.bars,th.bars{display:none}.tiles{grid-template-columns:1fr;gap:.4rem}.tile,.tile b{display:flex;align-items:center;gap:.8rem}.tile b{flex:none;min-width:3.2rem}.stacked thead{position:absolute;clip-path:inset(50%);height:1px;width:1px;overflow:hidden}.stacked :is(table,tbody,tr,td){display:block}.stacked td{border:0;padding:0}.stacked tr{padding:.5rem 0;border-bottom:1px solid var(--edge)}.stacked .day,.stacked td.number{display:inline-block;color:var(--dim);margin-right:.6rem}.stacked td.bars{display:none}.unit{display:inline}}',
].join('\n');

/** The page of a rehearsal as HTML. */
export function rehearsalPage({ rehearsal, name, policy }: RehearsalPage): string {
  return staticPage({
    title: `Rehearsal of ${name}`,
    about: `What Portolan's gate would have done: ${escapeXml(rehearsalHeadline(rehearsal))}.`,
    style: OWN_STYLE,
    parts: [
      tiles(rehearsal),
      stoppedPart(rehearsal),
      strandedPart(rehearsal),
      peoplePart(rehearsal),
      rulesPart(rehearsal),
      intendedPart(rehearsal),
      policyPart(policy),
      uncheckedPart(rehearsal),
    ],
  });
}

/** The numbers at the top of the page. */
function tiles(rehearsal: Rehearsal): string {
  const { atOnce, afterApproval, fail, orphans, unfinished } = countsOf(rehearsal.merges);
  const tile = (count: number, style: string, text: string): string =>
    `<div class="tile ${style}"><b>${count}</b>${text}</div>`;
  const open = orphans + unfinished;
  const stops = [
    ...(open > 0
      ? [tile(open, 'wait', 'cannot pass yet: nobody can approve, or not checked completely')]
      : []),
    tile(fail, fail > 0 ? 'stop' : 'good', fail === 1 ? 'fails' : 'fail'),
  ];
  const passes = [
    tile(atOnce, atOnce > 0 ? 'good' : 'wait', atOnce === 1 ? 'passes at once' : 'pass at once'),
    tile(afterApproval, 'wait', afterApproval === 1 ? 'passes after an approval' : 'pass after an approval'),
  ];
  return `${worstPart(rehearsal)}<div class="tiles">${[...passes, ...stops].join('')}</div><p class="legend">${rehearsalNotes(rehearsal).map(escapeXml).join('<br>')}</p>`;
}

/** The most serious error, above all counts. */
function worstPart(rehearsal: Rehearsal): string {
  const lines = worstLines(rehearsal);
  const linked = (line: string): string =>
    escapeXml(line.trim()).replace(/^[a-z-]+\/[a-z0-9-]+(?=: )/, ruleLink);
  return lines.length === 0 ? '' : `<p class="worst">${lines.map(linked).join('<br>')}</p>`;
}

function stoppedPart({ merges }: Rehearsal): string {
  const stopped = stoppedOf(merges);
  if (stopped.length === 0) return part('Merges that fail', '<p>Nothing.</p>');
  const rows = stopped.map(
    ({ commit, date, subject, author, headline, errors }) =>
      `<tr><td class="day">${escapeXml(date)}</td><td>${escapeXml(subject)} <small class="hash">${escapeXml(commit.slice(0, 12))}${author === undefined ? '' : ` by ${escapeXml(author)}`}</small></td><td>${escapeXml(headline)}${errorList(errors)}</td></tr>`,
  );
  return part('Merges that fail', table(['Day', 'Merge', 'Why'], rows, 'stacked'));
}

/** The errors of a merge, equal ones of several catalogs once. */
function errorList(errors: RehearsedMerge['errors']): string {
  if (errors.length === 0) return '';
  const catalogs = new Map<string, readonly string[]>();
  for (const { rule, message, catalogs: its = [] } of errors) {
    const item = `${ruleLink(rule)} ${escapeXml(message)}`;
    catalogs.set(item, [...(catalogs.get(item) ?? []), ...its]);
  }
  const items = [...catalogs].map(([item, its]) => {
    const names = [...new Set(its)];
    return `<li>${item}${names.length === 0 ? '' : ` <small>${escapeXml(shortList(names, 'catalogs'))}</small>`}</li>`;
  });
  return `<details><summary>${amountText(errors.length, 'error')}</summary><ul>${items.join('')}</ul></details>`;
}

/** The stranded installations, by month. */
function strandedPart({ stranded }: Rehearsal): string {
  const heading = 'Clusters that would have been stranded';
  if (stranded.length === 0) return part(heading, '<p>None.</p>');
  const most = Math.max(...stranded.map(({ merges }) => merges));
  const rows = stranded.map(
    ({ month, merges, packages }) =>
      `<tr><td class="day">${escapeXml(month)}</td><td class="number">${merges}<span class="unit"> ${merges === 1 ? 'merge' : 'merges'}</span></td>${bar(merges, most)}<td>${packages.map((one) => escapeXml(packageText(one))).join('<br>')}</td></tr>`,
  );
  return part(
    heading,
    table(['Month', 'Merges', '', 'Installed versions without an upgrade path'], rows, 'stacked'),
  );
}

/** Who would have been asked for how many approvals. */
function peoplePart({ people, merges }: Rehearsal): string {
  const heading = 'Who would have been asked for an approval';
  const unknown = merges.filter(({ author }) => author === undefined).length;
  const note =
    unknown > 0
      ? `<p>The author of ${amountText(unknown, 'merge')} is not known; their permissions were not checked.</p>`
      : '';
  const nobody = orphansOf(merges);
  const orphans =
    nobody.length > 0
      ? `<p class="warn">For ${amountText(nobody.length, 'merge')} the policy names nobody who could approve.</p><ul>${NAMING.map((line) => `<li>${escapeXml(line)}</li>`).join('')}</ul>`
      : '';
  if (people.length === 0) return part(heading, `${orphans}${note || '<p>Nobody.</p>'}`);
  const most = people[0]?.merges ?? 1;
  const rows = people.map(
    ({ login, merges: count }) =>
      `<tr><td>${escapeXml(login)}</td><td class="number">${count}</td>${bar(count, most, 'people')}</tr>`,
  );
  const heads = ['Account', 'Merges', ''];
  const rest = rows.slice(MOST_PEOPLE);
  const folded =
    rest.length > 0
      ? `<details><summary>and ${rest.length} more</summary>${table(heads, rest)}</details>`
      : '';
  return part(
    heading,
    `${orphans}${note}${table(heads, rows.slice(0, MOST_PEOPLE))}${folded}${waitingList(merges)}`,
  );
}

/** The merges that cannot pass at once, with what is missing and who could give it. */
function waitingList(merges: Rehearsal['merges']): string {
  const waiting = merges.filter(({ state, needs }) => state === 'pending' && needs.length > 0);
  if (waiting.length === 0) return '';
  const rows = waiting.map(
    ({ date, subject, author, needs }) =>
      `<tr><td class="day">${escapeXml(date)}</td><td>${escapeXml(subject)}${author === undefined ? '' : ` <small>by ${escapeXml(author)}</small>`}</td><td>${needs.map(escapeXml).join('<br>')}</td></tr>`,
  );
  const list = table(['Day', 'Merge', 'What is missing'], rows, 'stacked');
  return `<details><summary>${amountText(waiting.length, 'merge')} that cannot pass at once</summary>${list}</details>`;
}

/** A table of how many findings each rule had, and in how many merges. */
function rulesPart({ rules }: Rehearsal): string {
  if (rules.length === 0) return part('Rules', '<p>No rule fired.</p>');
  const most = Math.max(1, ...rules.map(({ errors }) => errors));
  const rows = rules.map(
    ({ rule, errors, warnings, merges }) =>
      `<tr><td>${ruleLink(rule)}</td><td class="number">${errors}</td><td class="number">${warnings}</td><td class="number">${merges}</td>${bar(errors, most)}</tr>`,
  );
  return part('How often each rule fired', table(['Rule', 'Errors', 'Warnings', 'Merges', ''], rows));
}

/**
 * What to write into the policy so that its findings no longer fail a merge; nothing where that is not
 * needed.
 */
function intendedPart({ intended }: Rehearsal): string {
  if (intended.policy === '') return '';
  const rows = intended.lines.map(
    ({ rule, setting, errors, merges }) =>
      `<tr><td>${ruleLink(rule)}</td><td><code>${escapeXml(setting)}</code></td><td class="number">${errors}</td><td class="number">${merges}</td></tr>`,
  );
  const text = '<p>Look at the findings first. Keep only the lines for findings that are intended.</p>';
  return part(
    'If findings are intended: what to write into the policy',
    `${text}<pre>${escapedLines(intended.policy)}</pre>${table(['Rule', 'Setting', 'Errors', 'Merges'], rows)}`,
  );
}

function policyPart({ source, text }: RehearsalPage['policy']): string {
  return part(
    'The policy of this rehearsal',
    `<details><summary>${escapeXml(source)}</summary><pre>${escapedLines(text)}</pre></details>`,
  );
}

function uncheckedPart({ unchecked }: Rehearsal): string {
  if (unchecked.length === 0) return '';
  const items = unchecked.map(({ what, why }) => `<li>${escapeXml(what)}: ${escapeXml(why)}</li>`);
  return part('What was not checked', `<ul>${items.join('')}</ul>`);
}

/** Text of several lines. */
function escapedLines(text: string): string {
  return text.split('\n').map(escapeXml).join('\n');
}

/** A cell with a bar. Screen readers skip it: the numbers beside it say the same. */
function bar(count: number, most: number, style = ''): string {
  const width = Math.round((100 * count) / most);
  return `<td class="bars" aria-hidden="true">${count === 0 ? '' : `<span class="bar ${style}" style="width:${width}%"></span>`}</td>`;
}

/** An HTML table. @param style `stacked` for rows of sentences, which need the whole width of a phone */
function table(heads: readonly string[], rows: readonly string[], style = ''): string {
  const head = heads
    .map((name) => (name === '' ? '<td class="bars"></td>' : `<th scope="col">${name}</th>`))
    .join('');
  return `<div class="table ${style}"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}
