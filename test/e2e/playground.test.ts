// The playground in Debian's Chromium, from its file, without a network.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fragmentOf } from '../../playground/share.ts';
import { newPage, startChromium } from '../fakes/chromium.ts';
import { violations } from '../fakes/legible.ts';

const folder = mkdtempSync(join(tmpdir(), 'portolan-playground-'));
const file = join(folder, 'playground.html');
let browser: Browser;

beforeAll(async () => {
  execFileSync(process.execPath, ['scripts/playground.mjs', file]);
  browser = await startChromium();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** Opens the page; it throws on errors, on refusals of its content security policy, and on requests. */
async function opened(fragment = '', options: BrowserContextOptions = {}): Promise<Page> {
  const page = await newPage(browser, options);
  const fail = (text: string): never => {
    throw new Error(text);
  };
  page.on('pageerror', (error) => fail(error.message));
  page.on('console', (message) => message.type() === 'error' && fail(message.text()));
  page.on('request', (request) => /^(?:file|blob|data):/.test(request.url()) || fail(request.url()));
  await page.goto(`${pathToFileURL(file).href}${fragment}`);
  await answered(page);
  return page;
}

const verdict = (page: Page): Promise<string | null> => page.locator('#verdict').textContent();

async function answered(page: Page): Promise<void> {
  await page.locator('#verdict', { hasNotText: 'Checking' }).waitFor();
}

/** Waits until the verdict is as told. */
async function told(page: Page, text: string): Promise<void> {
  await page.locator('#verdict', { hasText: text }).waitFor();
}

async function shared(catalog: string, before = catalog): Promise<string> {
  return fragmentOf({
    name: 'v4.20',
    files: { 'catalog.yaml': catalog },
    before: { 'catalog.yaml': before },
  });
}

const BUNDLE = (version: string): string =>
  [
    'schema: olm.bundle',
    `name: etcd.v${version}`,
    'package: etcd',
    'image: quay.io/example/etcd@sha256:'.concat('a'.repeat(64)),
    'properties:',
    `- {type: olm.package, value: {packageName: etcd, version: ${version}}}`,
  ].join('\n');
const CATALOG = [
  'schema: olm.package\nname: etcd\ndefaultChannel: stable',
  'schema: olm.channel\nname: stable\npackage: etcd\nentries:\n- name: etcd.v1.0.0\n- name: etcd.v1.1.0\n  replaces: etcd.v1.0.0',
  BUNDLE('1.0.0'),
  BUNDLE('1.1.0'),
  '',
].join('\n---\n');

describe('the page', () => {
  test('begins with a real pull request, whose error is on its line', async () => {
    const page = await opened();
    expect(await verdict(page)).toContain('(2 errors, ');
    await page
      .getByRole('button', { name: /catalog\.yaml:15$/ })
      .first()
      .click();
    expect(await page.locator('.cm-activeLine').textContent()).toBe(
      '- name: visionone-containersecurity.v0.0.2',
    );
    expect(await page.locator('.cm-lint-marker-error').count()).toBe(1);
  });

  test('draws the version that its first example strands in orange, in the words of the findings', async () => {
    const page = await opened();
    expect(await page.locator('#example option:checked').textContent()).toBe(
      'A real pull request that strands clusters',
    );
    const [said] = await page.locator('.finding.error > p:nth-of-type(2)').allTextContents();
    await page.getByRole('tab', { name: 'Upgrade paths' }).click();
    expect(await page.getByRole('tabpanel').textContent()).toContain(said);
    const stuck = page.locator('[data-channel="stable"] .stuck.removed');
    expect(await stuck.textContent()).toContain('0.0.1');
    const orange = "getComputedStyle(document.querySelector('.stuck.removed rect')).stroke";
    expect(await page.evaluate(orange)).toBe('rgb(188, 76, 0)');
  });

  test('links each rule, and the page on how to install', async () => {
    const page = await opened();
    const link = page.locator('.finding.error a').first();
    expect(await link.getAttribute('href')).toMatch(/\/docs\/rules\.md#graph-strands-installed-v0$/);
    expect(await page.getByRole('link', { name: 'Install', exact: true }).getAttribute('href')).toMatch(
      /install\.md$/,
    );
  });

  test('checks while a person types, and tells whom the edit strands', async () => {
    const page = await opened(await shared(CATALOG));
    expect(await verdict(page)).toContain('no errors');
    await page.locator('.cm-line', { hasText: 'replaces: etcd.v1.0.0' }).click();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.press('Delete');
    await told(page, 'errors in 1 package');
    await page.getByRole('tab', { name: 'Impact of the edit' }).click();
    expect(await page.getByRole('tabpanel').textContent()).toContain('after: an error');
    await page.getByRole('button', { name: 'Undo all edits' }).click();
    await told(page, 'no errors');
  });

  test('shows the upgrade path of a version under both resolvers', async () => {
    const page = await opened(await shared(CATALOG));
    await page.getByRole('tab', { name: 'Upgrade paths' }).click();
    await page.getByLabel('Installed version', { exact: true }).selectOption('etcd.v1.0.0');
    for (const olm of ['v0', 'v1']) {
      expect(await page.locator(`#path-${olm} .steps`).textContent()).toBe('1.1.0');
    }
  });

  test('writes the documents of a mirror, for the registry that is given', async () => {
    const page = await opened(await shared(CATALOG));
    await page.getByRole('tab', { name: 'Disconnected' }).click();
    await page.getByLabel('Mirror', { exact: true }).fill('registry.internal:5000/olm');
    await page.keyboard.press('Tab');
    await page.locator('pre', { hasText: 'registry.internal:5000/olm/' }).waitFor();
    await page.getByLabel('Document').selectOption('catalogSource.yaml');
    expect(await page.locator('pre').textContent()).toContain('kind: CatalogSource');
  });

  test('takes dropped files, and names what it leaves out', async () => {
    const page = await opened();
    // As text: the types of a browser are not those of this file.
    await page.evaluate(`{
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(CATALOG)}], 'catalog.yaml'));
      data.items.add(new File([new Uint8Array([0xff, 0xfe])], 'logo.png'));
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }`);
    await told(page, '2 bundles: no errors');
    expect(await page.locator('#notice').textContent()).toBe('logo.png is not UTF-8 text, and was left out');
  });

  test('gives a link that shows the same again', async () => {
    const page = await opened(await shared(`${CATALOG}# mine\n`));
    await page.getByRole('button', { name: 'Copy a link' }).click();
    await page.locator('#notice', { hasText: 'holds the whole catalog' }).waitFor();
    const again = await opened(new URL(page.url()).hash);
    expect(await verdict(again)).toBe(await verdict(page));
  });

  test('says that a link is damaged, and shows an example', async () => {
    const page = await opened('#share=AAAA');
    expect(await page.locator('#notice').textContent()).toContain('the link is damaged');
    expect(await verdict(page)).toContain('bundles');
  });
});

test('markup in a catalog stays text', async () => {
  const evil = '<img src=x onerror=document.title=1></script><script>document.title=1</script>';
  const page = await opened(await shared(CATALOG.replaceAll('etcd', `'${evil}'`), CATALOG));
  for (const name of ['Findings', 'Upgrade paths', 'Impact', 'Disconnected']) {
    await page.getByRole('tab', { name }).click();
    expect(await page.locator('img, main script').count()).toBe(0);
  }
  expect(await page.title()).toBe('Portolan playground');
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test.each([
    ['a desktop', { width: 1280, height: 800 }],
    ['a phone', { width: 390, height: 844 }],
  ])('%s: nothing wider than the screen, and nothing that axe finds', async (_, viewport) => {
    const page = await opened('', { colorScheme, viewport });
    for (const name of ['Findings', 'Upgrade paths', 'Impact', 'Disconnected']) {
      await page.getByRole('tab', { name }).click();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    }
  });
});

test('files of 20 MB are examined', async () => {
  const packages = Array.from({ length: 100 }, (_, i) => CATALOG.replaceAll('etcd', `etcd-${i}`));
  const padding = `# ${'x'.repeat(200_000 - CATALOG.length)}\n`;
  const big = join(folder, 'catalog.yaml');
  writeFileSync(big, packages.map((text) => `${text}${padding}`).join('---\n'));
  const page = await opened();
  await page.locator('#files').setInputFiles(big);
  await told(page, '200 bundles: ');
});
