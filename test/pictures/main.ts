/** Draws the pictures of docs/pictures.md: npm run pictures -- CLONE (of the recorded history) */
import { writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { pictureOf } from './picture.ts';
import { reportOf, SHOWN } from './pull-requests.ts';
import { sentOf } from './sent.ts';
import { smallPng } from './small-png.ts';

/** Most bytes of a picture. */
const MOST = 100_000;

const [clone] = process.argv.slice(2);
if (clone === undefined) throw new Error('usage: npm run pictures -- CLONE');
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-lcd-text'],
});
try {
  const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
  for (const shown of SHOWN) {
    const report = await reportOf(clone, shown);
    const sent = await sentOf(report);
    writeFileSync(`test/pictures/${shown.name}.report.json`, `${JSON.stringify(report)}\n`);
    writeFileSync(`test/pictures/${shown.name}.sent.json`, `${JSON.stringify(sent, null, 2)}\n`);
    await page.setContent(pictureOf(sent));
    const picture = smallPng(await page.locator('body').screenshot());
    writeFileSync(`docs/pictures/${shown.name}.png`, picture);
    if (picture.length > MOST) throw new Error(`${shown.name}: ${picture.length} bytes, at most ${MOST}`);
    process.stdout.write(`docs/pictures/${shown.name}.png: ${picture.length} bytes\n`);
  }
} finally {
  await browser.close();
}
