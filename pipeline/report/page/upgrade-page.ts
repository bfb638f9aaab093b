/** What an upgrade requires of whoever approves it, as one HTML file without scripts. */
import type { ReviewItem, ReviewSection, UpgradeReview } from '../../../catalog/olm/upgrade-review.ts';
import { escapeXml } from '../../text.ts';
import { MOST_DETAILS, ranked, reviewHeadline } from '../review-text.ts';
import { staticPage } from './static-page.ts';

const OWN_STYLE = [
  'main{max-width:60rem;margin:0 auto}main,header{overflow-wrap:anywhere}header{display:block;padding:.6rem max(1.2rem,calc((100vw - 60rem)/2 + 1.2rem))}header p{margin:0;color:var(--dim)}',
  'h2{margin:1.6rem 0 .4rem;font-size:1.2rem}main ul{list-style:none;margin:.3rem 0;padding:0}',
  'main li{border-left:4px solid var(--line);padding:.1rem .8rem;margin:.5rem 0}li.act{border-color:var(--bad)}li p{margin:.1rem 0}li small{display:block}',
  '.tag{color:var(--bad);font-size:.85em;font-weight:600}summary{cursor:pointer}',
  '@media(max-width:46rem){main,header{padding:.6rem}}',
].join('\n');

/** The page as HTML. */
export function upgradePage(review: UpgradeReview): string {
  return staticPage({
    title: `${review.package}: ${review.from} to ${review.to}`,
    about: escapeXml(reviewHeadline(review)),
    style: OWN_STYLE,
    parts: review.sections.map(sectionHtml),
  });
}

/** Items of a section that are shown before the rest is folded. */
const SHOWN = 12;

function sectionHtml({ title, items, unknown }: ReviewSection): string {
  const sorted = ranked(items);
  const [first, rest] = [sorted.slice(0, SHOWN), sorted.slice(SHOWN)];
  const more =
    rest.length === 0 ? '' : `<details><summary>${rest.length} more</summary>${listHtml(rest)}</details>`;
  const why = unknown === undefined ? '' : `<p class="warn">Not compared: ${escapeXml(unknown)}</p>`;
  const same = items.length === 0 && unknown === undefined ? '<p>No change.</p>' : '';
  return `<section><h2>${escapeXml(title)}</h2>${why}${same}${first.length === 0 ? '' : listHtml(first)}${more}</section>`;
}

function listHtml(items: readonly ReviewItem[]): string {
  return `<ul>${items.map(itemHtml).join('')}</ul>`;
}

function itemHtml({ weight, text, means, details = [] }: ReviewItem): string {
  const tag = weight === 'act' ? '<span class="tag">Check before the upgrade.</span> ' : '';
  const small = means === undefined ? '' : `<small>${escapeXml(means)}</small>`;
  return `<li class="${weight}"><p>${tag}${escapeXml(text)}</p>${small}${detailsHtml(details)}</li>`;
}

function detailsHtml(details: readonly string[]): string {
  if (details.length === 0) return '';
  const lines = details.slice(0, MOST_DETAILS).map((line) => `<li>${escapeXml(line)}</li>`);
  const rest = details.length > MOST_DETAILS ? `<li>and ${details.length - MOST_DETAILS} more</li>` : '';
  return `<details><summary>Each change</summary><ul>${lines.join('')}${rest}</ul></details>`;
}
