/** What an upgrade requires of whoever approves it, as one HTML file without scripts. */
import type { ReviewItem, ReviewSection, UpgradeReview } from '../../../catalog/olm/upgrade-review.ts';
import { escapeXml } from '../../text.ts';
import { MOST_DETAILS, rankedItems, reviewHeadline, reviewSubject } from '../review-text.ts';
import { staticPage } from './static-page.ts';

const OWN_STYLE = [
  'main{max-width:60rem;margin:0 auto}main,header{overflow-wrap:anywhere}header{display:block;padding:.6rem max(1.2rem,calc((100vw - 60rem)/2 + 1.2rem))}header p{margin:0;color:var(--dim)}',
  'h2{margin:1.6rem 0 .4rem;font-size:1.2rem}main ul{list-style:none;margin:.3rem 0;padding:0}',
  'main li{border-left:4px solid var(--line);padding:.1rem .8rem;margin:.5rem 0}li.act{border-color:var(--bad)}li p{margin:.1rem 0}li small{display:block}',
  '.tag{color:var(--bad);border:1px solid;border-radius:4px;padding:0 .3em;font-size:.8em;font-weight:600}summary{cursor:pointer}',
  '@media(max-width:46rem){main,header{padding:.6rem}}',
].join('\n');

/** The page as HTML. */
export function upgradePage(review: UpgradeReview): string {
  return staticPage({
    title: reviewSubject(review),
    about: escapeXml(reviewHeadline(review)),
    style: OWN_STYLE,
    parts: [...review.sections.map(sectionHtml), unchangedHtml(review.sections)],
  });
}

/** Items of a section that are shown before the rest is folded. */
const SHOWN = 12;

/**
 * A section with its most serious items, the rest folded; '' where nothing changes, which one line says of
 * all such sections.
 */
function sectionHtml(section: ReviewSection): string {
  if (isUnchanged(section)) return '';
  const { title, items, unknown } = section;
  const sorted = rankedItems(items);
  const [first, rest] = [sorted.slice(0, SHOWN), sorted.slice(SHOWN)];
  const more =
    rest.length === 0 ? '' : `<details><summary>${rest.length} more</summary>${listHtml(rest)}</details>`;
  const why = unknown === undefined ? '' : `<p class="warn">Not compared: ${escapeXml(unknown)}</p>`;
  return `<section><h2>${escapeXml(title)}</h2>${why}${first.length === 0 ? '' : listHtml(first)}${more}</section>`;
}

/** The sections in which nothing changes, in one line. */
function unchangedHtml(sections: readonly ReviewSection[]): string {
  const titles = sections.filter(isUnchanged).map(({ title }) => escapeXml(title));
  return titles.length === 0 ? '' : `<p class="where">No change: ${titles.join(', ')}.</p>`;
}

function isUnchanged({ items, unknown }: Pick<ReviewSection, 'items' | 'unknown'>): boolean {
  return items.length === 0 && unknown === undefined;
}

function listHtml(items: readonly ReviewItem[]): string {
  return `<ul>${items.map(itemHtml).join('')}</ul>`;
}

function itemHtml({ weight, text, means, details = [] }: ReviewItem): string {
  const tag = weight === 'act' ? '<span class="tag">check</span> ' : '';
  const small = means === undefined ? '' : `<small>${escapeXml(means)}</small>`;
  return `<li class="${weight}"><p>${tag}${escapeXml(text)}</p>${small}${detailsHtml(details)}</li>`;
}

function detailsHtml(details: readonly string[]): string {
  if (details.length === 0) return '';
  const lines = details.slice(0, MOST_DETAILS).map((line) => `<li>${escapeXml(line)}</li>`);
  const rest = details.length > MOST_DETAILS ? `<li>and ${details.length - MOST_DETAILS} more</li>` : '';
  return `<details><summary>Details</summary><ul>${lines.join('')}${rest}</ul></details>`;
}
