/**
 * Draws the pictures of docs/pictures.md: npm run pictures [-- CLONE]
 * With a clone of the recorded history, or of the public repository, checks those pull requests again that it has. Without
 * one, draws the reports that are kept here.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { CheckReport } from '../../pipeline/check/report.ts';
import {
  conceptDrawings,
  DRAWN,
  digestOf,
  drawings,
  FRONT,
  frontDrawings,
  pageOfMerges,
} from './drawings.ts';
import { pictureOf } from './picture.ts';
import { reportOf, SHOWN, type Shown } from './pull-requests.ts';
import { sentOf } from './sent.ts';
import { smallPng } from './small-png.ts';

/** Most bytes of a picture. */
const MOST = 100_000;

const [clone] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-lcd-text'],
});
try {
  const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
  for (const shown of SHOWN) {
    const report = await checkedAgain(shown);
    const sent = await sentOf(report);
    writeFileSync(`test/pictures/${shown.name}.sent.json`, `${JSON.stringify(sent, null, 2)}\n`);
    await page.setContent(pictureOf(sent));
    keep(`${shown.name}.png`, smallPng(await page.locator('body').screenshot()));
    if (shown.name === DRAWN) keepAll(drawings(report));
    if (shown.name === FRONT) keepAll(frontDrawings(report));
  }
  keepAll(await conceptDrawings());
  const merges = pageOfMerges();
  await page.setViewportSize({ width: 1000, height: 720 });
  await page.setContent(merges);
  keep('page.png', smallPng(await page.screenshot()));
  writeFileSync('test/pictures/page.sha256', digestOf(merges));
} finally {
  await browser.close();
}

async function checkedAgain(shown: Shown): Promise<CheckReport> {
  const path = `test/pictures/${shown.name}.report.json`;
  if (clone === undefined || !hasCommit(clone, shown.commit)) return JSON.parse(readFileSync(path, 'utf8'));
  const report = await reportOf(clone, shown);
  writeFileSync(path, `${JSON.stringify(report)}\n`);
  return report;
}

function hasCommit(directory: string, commit: string): boolean {
  return spawnSync('git', ['-C', directory, 'cat-file', '-e', `${commit}^{tree}`]).status === 0;
}

function keepAll(texts: ReadonlyMap<string, string>): void {
  for (const [name, text] of texts) keep(name, Buffer.from(text));
}

function keep(name: string, picture: Buffer): void {
  if (picture.length > MOST) throw new Error(`${name}: ${picture.length} bytes, at most ${MOST}`);
  writeFileSync(`docs/pictures/${name}`, picture);
  process.stdout.write(`docs/pictures/${name}: ${picture.length} bytes\n`);
}
