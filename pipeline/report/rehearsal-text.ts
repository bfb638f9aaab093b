/** A rehearsal in a terminal: what would have been stopped and why, who would have been asked, what to write. */
import { orphansOf, type Rehearsal, type RehearsedMerge, stoppedOf } from '../check/rehearsal.ts';
import { amount, linesText, shortList } from '../text.ts';

/** Most merges, rules and people that are listed; the page has all. */
const SHOWN = 15;

/** How many merges would have passed, waited and failed, in one line. */
export function rehearsalHeadline({ merges, from, to }: Rehearsal): string {
  const count = (state: string): number => merges.filter((merge) => merge.state === state).length;
  const parts = [
    `${count('success')} would have passed`,
    `${count('pending')} would have waited`,
    `${count('failure')} would have been stopped`,
  ];
  return `of ${amount(merges.length, 'merge')} (${from} to ${to}), ${parts.join(', ')}`;
}

/** What a rehearsal cannot know, so that nobody takes it for more. */
export function rehearsalNotes({ merges }: Rehearsal): string[] {
  const isWaiting = merges.some(({ state, needs }) => state === 'pending' && needs.length > 0);
  return [
    ...(isWaiting
      ? [
          'Git does not record reviews: a merge that needs an approval counts as waiting, even if somebody approved it.',
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

/** Most denied merges that a summary names. */
const NAMED = 5;

/** A rehearsal in a few lines: how many merges pass, which are denied, and what could not be checked. */
export function rehearsalSummary({ merges, unchecked }: Rehearsal): string[] {
  const denied = merges.filter((merge) => merge.denied);
  const failed = merges.filter(({ state, denied: isDenied }) => state === 'failure' && !isDenied).length;
  const open = merges.filter(({ state }) => state === 'pending');
  const approvable = open.filter(({ asked }) => asked.length > 0).length;
  const orphans = orphansOf(merges).length;
  const unfinished = open.length - approvable - orphans;
  const passed = merges.length - denied.length - failed - open.length + approvable;
  const others = [
    ...(orphans > 0 ? [`${orphans} would need an approval that nobody in the policy can give`] : []),
    ...(unfinished > 0 ? [`${unfinished} could not be checked completely`] : []),
    ...(failed > 0 ? [`${failed} would fail`] : []),
    ...(denied.length > 0 ? [`${denied.length} would be denied`] : []),
  ];
  const approved = approvable > 0 ? ` (${approvable} of them after an approval)` : '';
  const first = [
    `of the last ${amount(merges.length, 'merge')}, ${passed} would pass${approved}`,
    ...others,
  ].join(', ');
  const hasCatalog = merges.length === 0 || merges.some(({ packages }) => packages.length > 0);
  const rest = denied.length - NAMED;
  return [
    `past merges: ${merges.length > 0 ? first : `none was checked${unchecked.length > 0 ? '' : ', because the branch has only one commit'}`}`,
    ...(hasCatalog ? [] : ['  none of them changes a package, so no catalog was checked']),
    ...denied.slice(0, NAMED).map((merge) => `  ${mergeText(merge)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...(others.length > 0
      ? ['  to see why, and what to write into the policy where it is intended: portolan rehearse']
      : []),
    ...unchecked.slice(0, NAMED).map(({ what, why }) => `  not checked: ${what}: ${why}`),
    ...(unchecked.length > NAMED ? [`  and ${unchecked.length - NAMED} more not checked`] : []),
  ];
}

function mergeText({ commit, date, subject, headline }: RehearsedMerge): string {
  return `${date} ${commit.slice(0, 12)} ${subject}: ${headline}`;
}

export function rehearsalText(rehearsal: Rehearsal): string {
  const { rules, people, stranded, intended, unchecked } = rehearsal;
  const stopped = stoppedOf(rehearsal.merges);
  const orphans = orphansOf(rehearsal.merges).length;
  const unknown = rehearsal.merges.filter(({ author }) => author === undefined).length;
  const parts = [
    [rehearsalHeadline(rehearsal), ...rehearsalNotes(rehearsal).map((note) => `  ${note}`)],
    titled('Stopped:', stopped.map(mergeText)),
    titled(
      'Asked for approval:',
      people.map(({ login, merges }) => `${login}: ${amount(merges, 'merge')}`),
    ),
    titled(
      'Stranded clusters by month:',
      stranded.map(
        ({ month, merges, packages }) =>
          `${month}: ${amount(merges, 'merge')}; ${packages.map(packageText).join('; ')}`,
      ),
    ),
    titled(
      'Rules:',
      rules.map(
        ({ rule, errors, warnings, merges }) =>
          `${rule}: ${amount(errors, 'error')}, ${amount(warnings, 'warning')} in ${amount(merges, 'merge')}`,
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
          `${amount(orphans, 'merge')} would have needed an approval, but the policy names nobody who could give it`,
          ...NAMING.map((line) => `  ${line}`),
        ]
      : [],
    unknown > 0
      ? [`${amount(unknown, 'merge')} without a known author: their permissions were not checked`]
      : [],
    titled(
      'Not checked:',
      unchecked.map(({ what, why }) => `${what}: ${why}`),
    ),
  ];
  const filled = parts.filter((lines) => lines.length > 0);
  return filled.map(linesText).join('\n');
}

export function packageText({
  package: name,
  versions,
  catalogs,
}: Rehearsal['stranded'][number]['packages'][number]): string {
  const where = catalogs.length > 0 ? ` in ${shortList(catalogs, 'catalogs')}` : '';
  return `${name} ${shortList(versions)}${where}`;
}

function titled(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length - SHOWN;
  return [
    title,
    ...items.slice(0, SHOWN).map((item) => `  ${item}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
