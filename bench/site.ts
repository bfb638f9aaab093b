// node scripts/run.mjs bench/site.ts [PICTURES]: what a reader's browser loads of the built site (`npm run site`), and when it can
// be used. As Lighthouse measures phones: the processor four times slower, 1.6 Mbit/s, 150 ms latency, nothing cached. With a directory for pictures, it
// also takes each page in light, dark and on a phone.
import { chromium } from 'playwright-core';
import { serveSite } from '../test/fakes/served-site.ts';

const [pictures] = process.argv.slice(2);
// What else the machine does only adds: the fastest run counts.
const RUNS = 5;
const PAGES = { 'start page': '', 'longest page': 'policy.html', playground: 'try.html' };

/** Runs in the page: its types are not those of Node. */
const OBSERVER = `
  globalThis.seen = { largest: 0, tasks: [] };
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) seen.largest = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) seen.tasks.push([startTime, duration]);
  }).observe({ type: 'longtask', buffered: true });
`;

interface Load {
  /** Of all responses, as they came over the wire. */
  readonly bytes: number;
  readonly requests: number;
  /** Milliseconds since the navigation began: first text, largest text or picture. */
  readonly first: number;
  readonly largest: number;
  /** Milliseconds until the first text is there and no task of 50 ms or longer follows. */
  readonly interactive: number;
  /** Milliseconds of processor time of the page's main thread, slowed four times. */
  readonly processor: number;
  /** Milliseconds of tasks beyond their first 50, after the first text. */
  readonly blocked: number;
}

const site = await serveSite('site/dist', '/portolan/');
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
console.log(
  '| page | kB | requests | first text | largest | interactive | blocked | processor |\n|---|---|---|---|---|---|---|---|',
);
for (const [name, path] of Object.entries(PAGES)) {
  const loads: Load[] = [];
  for (let run = 0; run < RUNS; run++) loads.push(await load(`${site.url}${path}`));
  const kilobytes = Math.round(Math.min(...loads.map(({ bytes }) => bytes)) / 1000);
  const seconds = (key: 'first' | 'largest' | 'interactive' | 'blocked' | 'processor'): string =>
    `${(Math.min(...loads.map((one) => one[key])) / 1000).toFixed(2)} s`;
  const requests = Math.min(...loads.map((one) => one.requests));
  console.log(
    `| ${name} | ${kilobytes} | ${requests} | ${seconds('first')} | ${seconds('largest')} | ${seconds('interactive')} | ${seconds('blocked')} | ${seconds('processor')} |`,
  );
}
if (pictures !== undefined) await takePictures(pictures);
await browser.close();
await site.close();

/** Takes a picture of each page on each screen. */
async function takePictures(folder: string): Promise<void> {
  const screens = {
    light: { viewport: { width: 1280, height: 900 } },
    dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' as const },
    phone: { viewport: { width: 390, height: 844 }, isMobile: true, deviceScaleFactor: 2 },
  };
  for (const [screen, options] of Object.entries(screens)) {
    for (const [name, path] of Object.entries(PAGES)) {
      const page = await browser.newPage(options);
      await page.goto(`${site.url}${path}`, { waitUntil: 'networkidle' });
      await page.screenshot({ path: `${folder}/${name.replaceAll(' ', '-')}-${screen}.png` });
      await page.close();
    }
  }
}

/** Loads a page as a phone does, with nothing cached. */
async function load(url: string): Promise<Load> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  let bytes = 0;
  let requests = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests++;
  });
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: 1_600_000 / 8,
    uploadThroughput: 750_000 / 8,
  });
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.addInitScript(OBSERVER);
  await page.goto(url, { waitUntil: 'networkidle' });
  // As long as no long task may follow, by the definition of "interactive".
  await page.waitForTimeout(5000);
  const { first, largest, tasks } = await page.evaluate(() => {
    const { seen } = globalThis as unknown as { seen: { largest: number; tasks: [number, number][] } };
    const first = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
    return { first, largest: seen.largest, tasks: seen.tasks };
  });
  const { metrics } = await devtools.send('Performance.getMetrics');
  const processor = 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  await context.close();
  const later = tasks.filter(([start, duration]) => start + duration > first);
  return {
    bytes,
    requests,
    first,
    largest,
    processor,
    interactive: Math.max(first, ...later.map(([start, duration]) => start + duration)),
    blocked: later.reduce((sum, [, duration]) => sum + duration - 50, 0),
  };
}
