// The page and the diagrams in Debian's Chromium: what the box with the upgrade path says is what
// `portolan next` says, what Mermaid is given it can read, and nothing that a catalog says becomes markup.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { worldOf } from '../../catalog/olm/foresight/world.ts';
import { hopGraph } from '../../catalog/olm/graph/hop-graph.ts';
import { catalogPlaces, type ReadCatalog, readCatalogs } from '../../pipeline/catalogs/read-catalogs.ts';
import { answerQuestion } from '../../pipeline/cli/catalog/installed-next.ts';
import { mermaidText } from '../../pipeline/report/pictures/mermaid.ts';
import { written } from '../catalog/olm/universe.ts';
import { newPage, startChromium } from '../fakes/chromium.ts';
import { folder } from '../fakes/folder.ts';
import { runCommand } from '../fakes/terminal.ts';

/** Real catalogs beside the project; where there are none, the sample stands in for them. */
const DATA = join(process.env['PORTOLAN_GOLDEN'] ?? '../shared/golden', '..', 'data');
const REAL = join(DATA, 'catalogs', 'v4.20');
const HISTORY = join(DATA, 'pr-history.bundle');
const CATALOG = existsSync(REAL) ? REAL : 'test/catalogs/sample/catalogs/v4.20';
const NAME = 'v4.20';

let browser: Browser;
let catalogs: ReadCatalog[];

beforeAll(async () => {
  browser = await startChromium();
  catalogs = await readCatalogs(catalogPlaces([CATALOG], '.'));
});
afterAll(() => browser.close());

/** Opens a page that `portolan` wrote, from its file. */
async function opened(words: readonly string[], hash: string, dark = false): Promise<Page> {
  const { out } = await runCommand(words);
  const file = join(folder(), 'page.html');
  writeFileSync(file, out);
  const page = await newPage(browser, { colorScheme: dark ? 'dark' : 'light' });
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(`${pathToFileURL(file).href}${hash}`);
  return page;
}

/** The package with the most bundles, which has every kind of edge. */
function largest(): string {
  const packages = [...(catalogs[0]?.catalog.packages.values() ?? [])];
  return packages.sort((a, b) => b.bundles.size - a.bundles.size)[0]?.name ?? '';
}

describe('the road box', () => {
  test('answers as portolan next, for every bundle of two packages', async () => {
    const page = await opened(['graph', CATALOG], '');
    for (const name of new Set([largest(), existsSync(REAL) ? 'clusterpulse' : 'ferry-operator'])) {
      await page.goto(`${page.url().split('#')[0]}#${NAME}/${name}`);
      await page.locator('h2', { hasText: name }).waitFor();
      const ofPackage = catalogs[0]?.catalog.packages.get(name);
      for (const channel of ofPackage?.channels.values() ?? []) {
        await page.selectOption('#channel', channel.name);
        for (const { name: bundle } of channel.entries) {
          if (!ofPackage?.bundles.has(bundle)) continue;
          await page.selectOption('#version', bundle);
          expect(await shown(page), `${bundle} in ${channel.name}`).toEqual(
            await asked(name, channel.name, bundle),
          );
        }
      }
    }
    await page.close();
  });
});

interface Told {
  readonly olm: string;
  readonly steps: readonly string[];
  readonly arrives: boolean;
  readonly why: string;
}

/** What stands in the page; as a text, since tests do not know the types of a browser. */
const SHOWN = `['v0', 'v1'].map((olm) => {
  const section = document.querySelector('#path-' + olm);
  const steps = [...section.querySelectorAll('[data-step]')].map((step) => step.getAttribute('data-step'));
  const { arrives, why } = section.dataset;
  return { olm, steps, arrives: arrives === 'true', why };
})`;

function shown(page: Page): Promise<Told[]> {
  return page.evaluate(SHOWN);
}

async function asked(name: string, channel: string, bundle: string): Promise<Told[]> {
  const question = { package: name, version: undefined, bundle, range: '', catalog: undefined };
  const v0 = await answerQuestion(catalogs, { ...question, channels: [channel], olm: ['v0'] });
  const v1 = await answerQuestion(catalogs, { ...question, channels: [], olm: ['v1'] });
  return [...v0.roads, ...v1.roads].map(({ olm, steps, arrives, last, end }) => ({
    olm,
    steps: steps.map((step) => step.name),
    arrives,
    why: end === 'circle' ? 'circle' : last,
  }));
}

describe('the page', () => {
  test('is light or dark as the reader is, or as the button says', async () => {
    const ground = (page: Page): Promise<string> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await opened(['graph', CATALOG], '');
    const dark = await opened(['graph', CATALOG], '', true);
    expect([await ground(light), await ground(dark)]).toEqual(['rgb(255, 255, 255)', 'rgb(13, 17, 23)']);
    await light.click('#theme');
    expect(await ground(light)).toBe('rgb(13, 17, 23)');
  });

  test.each([
    ['audit', CATALOG, '--format', 'html'],
    ['graph', CATALOG],
  ])('of %s is no wider than a phone', async (...words) => {
    const page = await opened(words, '');
    await page.setViewportSize({ width: 400, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400);
  });

  test('is used by the keyboard alone', async () => {
    const page = await opened(['graph', CATALOG], '');
    await page.keyboard.press('/');
    await page.keyboard.type(largest());
    expect(await page.locator('#packages li').count()).toBe(1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    while ((await focused(page)) !== 'A') await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('h2', { hasText: largest() }).waitFor();
    const stop = page.locator('.stop[tabindex="0"]').first();
    await stop.focus();
    await page.keyboard.press('Enter');
    expect(await page.inputValue('#version')).toBe(await stop.getAttribute('data-bundle'));
    expect(await stop.getAttribute('aria-label')).toMatch(/^\d+\.\d+\.\d+.*: /);
  });

  test('takes nothing that a catalog says for markup, and asks nobody for anything', async () => {
    const hostile = '</script><img src=x onerror=alert(1)>&"\'';
    const directory = folder();
    const text = written({
      p: { versions: ['1.0.0'], channels: { [hostile]: [{ name: 'p.v1.0.0' }] }, deprecated: ['1.0.0'] },
    });
    writeFileSync(join(directory, 'catalog.json'), text.replaceAll('"old"', JSON.stringify(hostile)));
    const page = await opened(['audit', directory, '--format', 'html'], '');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('dialog', () => requests.push('dialog'));
    await page.click('#packages li:last-child a');
    expect(await page.locator('#channel option').first().textContent()).toBe(hostile);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('svg .channel').first().textContent()).toContain(hostile);
    expect(requests).toEqual([]);
  });
});

function focused(page: Page): Promise<string | undefined> {
  return page.evaluate('document.activeElement?.tagName');
}

test('Mermaid reads the diagram of every package of all catalogs, within what GitHub draws', async () => {
  const page = await newPage(browser);
  const bundle = createRequire(import.meta.url).resolve('mermaid/dist/mermaid.min.js');
  await page.setContent('<!doctype html><title>mermaid</title>');
  await page.addScriptTag({ content: readFileSync(bundle, 'utf8') });
  const diagrams = await everyDiagram();
  for (const [text, name] of diagrams) {
    expect(text.length, name).toBeLessThanOrEqual(50_000);
    expect(text.match(/-->|-\.->/g)?.length ?? 0, name).toBeLessThanOrEqual(500);
  }
  const answers = await page.evaluate(
    async (texts) => {
      const { mermaid } = globalThis as unknown as { mermaid: { parse(text: string): Promise<unknown> } };
      const all: string[] = [];
      for (const text of texts) all.push(await mermaid.parse(text).then(() => 'read', String));
      return all;
    },
    [...diagrams.keys()],
  );
  const refused = [...diagrams.values()].filter((_, i) => answers[i] !== 'read');
  expect(refused).toEqual([]);
  expect(diagrams.size).toBeGreaterThan(existsSync(HISTORY) ? 60 : 1);
}, 120_000);

/** The different diagrams of all packages, each with where it is from. */
async function everyDiagram(): Promise<Map<string, string>> {
  const diagrams = new Map<string, string>();
  for (const { name, catalog } of [...catalogs, ...(await historicCatalogs())]) {
    const world = await worldOf({ name, catalog });
    for (const ofPackage of catalog.packages.values()) {
      const text = mermaidText(hopGraph(world, ofPackage), false);
      if (text !== undefined) diagrams.set(text, `${ofPackage.name} in ${name}`);
    }
  }
  return diagrams;
}

/** The catalogs of the recorded history's last commit. */
async function historicCatalogs(): Promise<ReadCatalog[]> {
  if (!existsSync(HISTORY)) return [];
  const clone = join(folder(), 'repository');
  execFileSync('git', ['clone', '--quiet', HISTORY, clone]);
  const root = join(clone, 'catalogs');
  return readCatalogs(
    catalogPlaces(
      readdirSync(root).map((name) => join(root, name)),
      '.',
    ),
  );
}
