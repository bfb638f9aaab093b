/** What keeps people from reading a page, as axe and the width of the window tell. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newPage, startChromium } from './chromium.ts';
import { folder } from './folder.ts';

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

/**
 * Tests that everything on a page can be read in Debian's Chromium: on a desktop and on a phone, in light and dark. With
 * the variable PORTOLAN_SHOTS, pictures of it are left in that folder.
 *
 * @param name of the pictures
 * @param look at more of it
 */
export function legibleContract(name: string, html: () => string, look: (page: Page) => Promise<void>): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());
  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('%s, %i pixels wide: nothing is cut off, and axe finds nothing', async (colorScheme, width) => {
    const file = join(folder(), 'page.html');
    writeFileSync(file, html());
    const page = await newPage(browser, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    await page.goto(pathToFileURL(file).href);
    const shots = process.env['PORTOLAN_SHOTS'];
    if (shots !== undefined)
      await page.screenshot({ path: join(shots, `${name}-${colorScheme}-${width}.png`), fullPage: true });
    expect(await defects(page)).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await look(page);
  });
}
