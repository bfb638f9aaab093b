/** The documentation site as it is built: its links, and what a reader meets in Debian's Chromium. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPage, startChromium } from '../fakes/chromium.ts';
import { violations } from '../fakes/legible.ts';
import { type ServedSite, serveSite } from '../fakes/served-site.ts';

const folder = mkdtempSync(join(tmpdir(), 'portolan-site-'));
let browser: Browser;
let site: ServedSite;

beforeAll(async () => {
  execFileSync('npm', ['run', '--silent', 'site', '--', '--out', folder], { stdio: 'ignore' });
  site = await serveSite(folder, '/portolan/');
  browser = await startChromium();
}, 300_000);
afterAll(async () => {
  await browser.close();
  await site.close();
  rmSync(folder, { recursive: true });
});

/** Opens a page of the site; it throws on errors, and on requests to other hosts. */
async function opened(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await newPage(browser, options);
  const fail = (text: string): never => {
    throw new Error(text);
  };
  page.on('pageerror', (error) => fail(error.message));
  page.on('console', (message) => message.type() === 'error' && fail(message.text()));
  const { origin } = new URL(site.url);
  page.on('request', (request) => new URL(request.url()).origin === origin || fail(request.url()));
  await page.goto(`${site.url}${path}`, { waitUntil: 'networkidle' });
  return page;
}

test('every link of every page leads to a page, and to a heading of it', () => {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.html') && name !== 'try.html',
  );
  const html = new Map(pages.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const broken = [...html].flatMap(([name, text]) =>
    [...text.matchAll(/<a [^>]*?href="([^"]+)"/g)]
      .map(([, href = '']) => href.replaceAll('&amp;', '&'))
      .filter((href) => !/^[a-z]+:/.test(href))
      .filter((href) => {
        const [path = '', hash = ''] = href.split('#');
        const below = path.startsWith('/portolan/')
          ? path.slice('/portolan/'.length)
          : posix.join(posix.dirname(name), path);
        const target = path === '' ? name : below === '' ? 'index.html' : posix.normalize(below);
        if (!existsSync(join(folder, target))) return true;
        return (
          hash !== '' && html.has(target) && !html.get(target)?.includes(`id="${decodeURIComponent(hash)}"`)
        );
      })
      .map((href) => `${name}: ${href}`),
  );
  expect(pages.length).toBeGreaterThan(100);
  expect(broken).toEqual([]);
});

const SCREENS: readonly [string, BrowserContextOptions, readonly string[]][] = [
  [
    'light',
    { viewport: { width: 1280, height: 900 } },
    ['', 'start-maintainer.html', 'policy.html', 'rules/graph.html', 'commands/check.html'],
  ],
  ['dark', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' }, ['', 'rules/channel.html']],
  [
    'phone',
    { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
    ['', 'start-maintainer.html', 'rules/graph.html', 'commands/check.html', 'comparison.html'],
  ],
];
describe.each(SCREENS)('%s', (_, options, paths) => {
  test.each(paths)(
    '/%s can be used with a screen reader and a keyboard, and fits its screen',
    async (path) => {
      const page = await opened(path, options);
      // Its switch of light and dark has a name once the page runs.
      await page.waitForSelector('.VPSwitchAppearance[title]:not([title=""])', { state: 'attached' });
      expect(await violations(page)).toEqual([]);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width).toBe(options.viewport?.width);
      // Code goes on in the next line; it is not cut off.
      const cut =
        "[...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth + 1).length";
      expect(await page.evaluate(cut)).toBe(0);
      await page.close();
    },
  );
});

test.each(SCREENS)('%s: the home page shows its picture before anybody scrolls', async (_, options) => {
  const page = await opened('', options);
  const picture = page.getByRole('img', { name: 'portolan check names the installed version that is stuck' });
  const { y = 0, height = 0 } = (await picture.boundingBox()) ?? {};
  expect(height).toBeGreaterThan(180);
  expect(y + height).toBeLessThanOrEqual(options.viewport?.height ?? 0);
  expect(await page.evaluate("document.querySelector('.image-src').naturalWidth")).toBeGreaterThan(0);
  await page.close();
});

test('the header has a logo, and leads to the pages, to install, and to nothing outside but the sources', async () => {
  const page = await opened('');
  const header = page.locator('.VPNavBar');
  expect(await header.locator('img.logo').getAttribute('src')).toMatch(/^data:image\/svg/);
  const links = await header.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  expect(links).toEqual(
    expect.arrayContaining(['/portolan/install.html', '/portolan/start-maintainer.html']),
  );
  expect(new Set(links.filter((link) => /^[a-z]+:/.test(link ?? '')))).toEqual(
    new Set(['https://github.com/portolan/portolan']),
  );
  await page.close();
});

test('the search finds a rule, without a server', async () => {
  const page = await opened('');
  await page.locator('.DocSearch-Button').click();
  await page.locator('#localsearch-input').fill('strands-installed-v0');
  const first = await page.locator('.result').first().getAttribute('href');
  expect(first).toBe('/portolan/rules/graph.html#graph-strands-installed-v0');
  await page.close();
});

test('the switch names the versions, and leads to another one', async () => {
  const page = await newPage(browser);
  const versions = [
    { name: 'main', base: '/portolan/' },
    { name: 'v0.9', base: '/portolan/v0.9/' },
  ];
  await page.route('**/versions.json', (route) => route.fulfill({ json: versions }));
  await page.route('**/v0.9/', (route) => route.fulfill({ body: 'an older version' }));
  await page.goto(`${site.url}policy.html`);
  const choice = page.getByRole('combobox', { name: 'Version of Portolan' });
  await choice.locator('option', { hasText: 'v0.9' }).waitFor({ state: 'attached' });
  await Promise.all([page.waitForURL('**/portolan/v0.9/'), choice.selectOption('v0.9')]);
  await page.close();
});

test('the playground is a part of the site', async () => {
  const page = await opened('');
  await page.getByRole('link', { name: 'Try it in the browser' }).click();
  await page.locator('#verdict', { hasNotText: 'Checking' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/portolan/try.html');
  await page.close();
});
