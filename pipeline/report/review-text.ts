/** What an upgrade requires of whoever approves it, as text and as lines of reports. */
import { appendToGroup } from '../../catalog/go/grouped.ts';
import type { HeadReview } from '../../catalog/olm/head-reviews.ts';
import type { ReviewItem, ReviewSection, UpgradeReview, Weight } from '../../catalog/olm/upgrade-review.ts';
import { amountText, linesText, shortList } from '../text.ts';

/** Single changes of an item that are listed. */
export const MOST_DETAILS = 200;

/** The two bundles, with their package where their names do not begin with it. */
export function reviewSubject({ package: packageName, from, to }: UpgradeReview): string {
  const isNamed = [from, to].every((name) => name.startsWith(packageName));
  return `${isNamed ? '' : `${packageName}: `}${from} to ${to}`;
}

/** What each output says first. */
export function reviewHeadline({ act, know, sections }: UpgradeReview): string {
  const unknown = sections.filter((section) => section.unknown !== undefined).length;
  const rest = unknown === 0 ? '' : `; ${amountText(unknown, 'part')} not compared`;
  if (act + know > 0) return `${amountText(act, 'change')} to accept or prepare for, ${know} to know${rest}.`;
  return unknown === 0 ? 'Nothing that an administrator must know changes.' : `No change found${rest}.`;
}

const ORDER: Readonly<Record<Weight, number>> = { act: 0, know: 1 };

/** Items with what must be accepted or prepared for first. */
export function rankedItems(items: readonly ReviewItem[]): ReviewItem[] {
  return [...items].sort((a, b) => ORDER[a.weight] - ORDER[b.weight]);
}

/** A review of an upgrade for a terminal. */
export function reviewText(review: UpgradeReview): string {
  return linesText([reviewSubject(review), reviewHeadline(review), ...review.sections.flatMap(sectionLines)]);
}

/** A section of a review as lines of text; none if it is empty. */
function sectionLines({ title, items, unknown }: ReviewSection): string[] {
  if (items.length === 0 && unknown === undefined) return [];
  return [
    '',
    title,
    ...(unknown === undefined ? [] : [`  NOT COMPARED: ${unknown}`]),
    ...rankedItems(items).flatMap(({ weight, text, means, details = [] }) => {
      const mark = weight === 'act' ? '!' : '-';
      const line = `  ${mark} ${text}${means === undefined ? '' : `: ${means}`}`;
      return [line, ...details.slice(0, MOST_DETAILS).map((one) => `      ${one}`)];
    }),
  ];
}

/** Items of a section, and single changes of an item, that a report of a pull request shows. */
const SHOWN = 8;
const SHOWN_DETAILS = 3;

/** The title of a review in a report, which says what it leads to. */
export function reviewTitle(review: HeadReview, subject: string): string {
  const { from, to, channels } = review;
  const where =
    channels.length === 1 ? `channel ${channels[0]}` : `channels ${shortList(channels, 'channels')}`;
  return `Upgrade of ${subject} from ${from} to ${to} (${where}): ${reviewHeadline(review)}`;
}

/**
 * A review in short: a line for each section, and indented its items, what must be accepted first.
 *
 * @param only the weight of the items that are shown; all without it
 */
export function reviewLines({ sections }: UpgradeReview, only?: Weight): string[] {
  const lines = sections.flatMap(({ title, items }) => {
    const sorted = rankedItems(items).filter(({ weight }) => only === undefined || weight === only);
    if (sorted.length === 0) return [];
    const rest = sorted.length > SHOWN ? [`  and ${sorted.length - SHOWN} more`] : [];
    return [`${title}:`, ...sorted.slice(0, SHOWN).map(itemLine), ...rest];
  });
  const unknown = new Map<string, string[]>();
  for (const { title, unknown: why } of sections) if (why !== undefined) appendToGroup(unknown, why, title);
  return [...lines, ...[...unknown].map(([why, titles]) => `Not compared: ${titles.join(', ')}: ${why}`)];
}

/** An item in one line, with its first details. */
function itemLine({ weight, text, means, details = [] }: ReviewItem): string {
  const more = details.length - SHOWN_DETAILS;
  const shown = [...details.slice(0, SHOWN_DETAILS), ...(more > 0 ? [`and ${more} more`] : [])];
  const mark = weight === 'act' ? '❗ ' : '';
  return `  ${mark}${[text, ...(means === undefined ? [] : [means]), ...(shown.length === 0 ? [] : [shown.join('; ')])].join(': ')}`;
}
