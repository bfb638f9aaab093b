/** A rehearsal in a terminal: what fails and why, who would have been asked, what to write. */
import { countsOf, orphansOf, type Rehearsal, stoppedOf, worstOf } from '../check/rehearsal/rehearsal.ts';
import type { RehearsedMerge } from '../check/rehearsal/tally.ts';
import { pullRequestOf } from '../git/merged-commits.ts';
import { amountText, linesText, shortList } from '../text.ts';

/** Most merges, rules and people that are listed; the page has all. */
const SHOWN = 15;

/** How many merges pass at once, pass after an approval and fail, in one line. */
export function rehearsalHeadline({ merges, from, to }: Rehearsal): string {
  return `of ${amountText(merges.length, 'merge')} (${from} to ${to}), ${countsText(merges)}`;
}

/** How many merges pass, wait and fail, in words. */
function countsText(merges: readonly RehearsedMerge[]): string {
  const { atOnce, afterApproval, fail, orphans, unfinished } = countsOf(merges);
  const verb = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
  return [
    verb(atOnce, 'passes at once', 'pass at once'),
    verb(afterApproval, 'passes after an approval', 'pass after an approval'),
    verb(fail, 'fails', 'fail'),
    ...(orphans > 0
      ? [`${verb(orphans, 'needs', 'need')} an approval that nobody in the policy can give`]
      : []),
    ...(unfinished > 0 ? [`${unfinished} could not be checked completely`] : []),
  ].join(', ');
}

/** The most serious error of all merges, with its pull request and fix; nothing where no merge fails. */
export function worstLines({ merges }: Rehearsal): string[] {
  const worst = worstOf(merges);
  if (!worst) return [];
  const { merge, error } = worst;
  const request = pullRequestOf(merge.subject);
  const where = [...(request === undefined ? [] : [`#${request}`]), merge.commit.slice(0, 12)].join(', ');
  return [
    `most serious: ${merge.date} ${merge.subject} (${where})`,
    `  ${error.rule}: ${error.message}`,
    ...(error.hint === undefined ? [] : [`  fix: ${error.hint}`]),
  ];
}

/** What a rehearsal cannot know, so that nobody takes it for more. */
export function rehearsalNotes({ merges }: Rehearsal): string[] {
  const isWaiting = merges.some(({ state, needs }) => state === 'pending' && needs.length > 0);
  return [
    ...(isWaiting
      ? [
          'Git does not record reviews: a merge that needs an approval counts as passing after an approval, even if somebody approved it.',
        ]
      : []),
    'No registry was contacted: whether images exist was not checked.',
  ];
}

/** How to name those who can approve. */
export const NAMING: readonly string[] = [
  'to name admins where there is no policy: portolan rehearse --admin LOGIN,LOGIN',
  'to name them in the policy: owners: {admins: [LOGIN]}',
];

/** Most failed merges that a summary names. */
const NAMED = 5;

/** A rehearsal in a few lines: how many merges pass, which fail, and what could not be checked. */
export function rehearsalSummary(rehearsal: Rehearsal): string[] {
  const { merges, unchecked } = rehearsal;
  const denied = stoppedOf(merges);
  const { fail, orphans, unfinished } = countsOf(merges);
  const first = `of the last ${amountText(merges.length, 'merge')}, ${countsText(merges)}`;
  const hasCatalog = merges.length === 0 || merges.some(({ packages }) => packages.length > 0);
  const rest = denied.length - NAMED;
  return [
    `past merges: ${merges.length > 0 ? first : `none was checked${unchecked.length > 0 ? '' : ', because the branch has only one commit'}`}`,
    ...(hasCatalog ? [] : ['  none of them changes a package, so no catalog was checked']),
    ...worstLines(rehearsal).map((line) => `  ${line}`),
    ...denied.slice(0, NAMED).map((merge) => `  ${mergeText(merge)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...(fail + orphans + unfinished > 0
      ? ['  to see why, and what to write into the policy where it is intended: portolan rehearse']
      : []),
    ...unchecked.slice(0, NAMED).map(({ what, why }) => `  not checked: ${what}: ${why}`),
    ...(unchecked.length > NAMED ? [`  and ${unchecked.length - NAMED} more not checked`] : []),
  ];
}

function mergeText({ commit, date, subject, headline }: RehearsedMerge): string {
  return `${date} ${commit.slice(0, 12)} ${subject}: ${headline}`;
}

/** A rehearsal as text. */
export function rehearsalText(rehearsal: Rehearsal): string {
  const { rules, people, stranded, intended, unchecked } = rehearsal;
  const stopped = stoppedOf(rehearsal.merges);
  const orphans = orphansOf(rehearsal.merges).length;
  const unknown = rehearsal.merges.filter(({ author }) => author === undefined).length;
  const parts = [
    [rehearsalHeadline(rehearsal), ...rehearsalNotes(rehearsal).map((note) => `  ${note}`)],
    worstLines(rehearsal),
    titledList('Fail:', stopped.map(mergeText)),
    titledList(
      'Asked for approval:',
      people.map(({ login, merges }) => `${login}: ${amountText(merges, 'merge')}`),
    ),
    titledList(
      'Stranded clusters by month:',
      stranded.map(
        ({ month, merges, packages }) =>
          `${month}: ${amountText(merges, 'merge')}; ${packages.map(packageText).join('; ')}`,
      ),
    ),
    titledList(
      'Rules:',
      rules.map(
        ({ rule, errors, warnings, merges }) =>
          `${rule}: ${amountText(errors, 'error')}, ${amountText(warnings, 'warning')} in ${amountText(merges, 'merge')}`,
      ),
    ),
    intended.policy === ''
      ? []
      : [
          'If these findings are intended, write into the policy:',
          ...intended.policy
            .trimEnd()
            .split('\n')
            .map((line) => `  ${line}`),
        ],
    orphans > 0
      ? [
          `${amountText(orphans, 'merge')} would have needed an approval, but the policy names nobody who could give it`,
          ...NAMING.map((line) => `  ${line}`),
        ]
      : [],
    unknown > 0
      ? [`${amountText(unknown, 'merge')} without a known author: their permissions were not checked`]
      : [],
    titledList(
      'Not checked:',
      unchecked.map(({ what, why }) => `${what}: ${why}`),
    ),
  ];
  const filled = parts.filter((lines) => lines.length > 0);
  return filled.map(linesText).join('\n');
}

/** A package with its stranded versions and the catalogs in which they are stranded. */
export function packageText({
  package: name,
  versions,
  catalogs,
}: Rehearsal['stranded'][number]['packages'][number]): string {
  const where = catalogs.length > 0 ? ` in ${shortList(catalogs, 'catalogs')}` : '';
  return `${name} ${shortList(versions)}${where}`;
}

/** A title with its items, the first ones if there are many; nothing without items. */
function titledList(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length - SHOWN;
  return [
    title,
    ...items.slice(0, SHOWN).map((item) => `  ${item}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
