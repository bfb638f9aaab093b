/** What keeps people from reading a page, as axe and the width of the window tell. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Run in the page: text that reaches beyond the right edge of the window. */
const OUTSIDE = `[...document.body.querySelectorAll('*')]
  .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''))
  .filter((element) => !element.closest('thead'))
  .filter((element) => element.getBoundingClientRect().width > 0 && element.getBoundingClientRect().right > innerWidth)
  .map((element) => 'outside the window: ' + element.outerHTML.slice(0, 60))`;

/** The violations that axe finds in the page as it is now, contrast among them: its rule, and the elements. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(
    `axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  );
}

/** What axe finds, and text that is cut off at the right: for pages that never scroll sideways. */
export async function defects(page: Page): Promise<string[]> {
  return [...(await page.evaluate<string[]>(OUTSIDE)), ...(await violations(page))];
}
