/** Debian's Chromium, as the tests of pages use it. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** How long a page may take on a machine that runs other tests as well, in ms. Only a page that hangs takes so long. */
const PATIENCE = 300_000;

export function startChromium(): Promise<Browser> {
  // Tests run as root in containers, where Chromium's own sandbox does not start.
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'], timeout: PATIENCE });
}

/** An empty page of its own. */
export async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(PATIENCE);
  return page;
}
