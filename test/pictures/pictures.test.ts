/** What docs/pictures.md shows is what Portolan says today: where a text changes, `npm run pictures` draws it anew. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  conceptDrawings,
  DRAWN,
  digestOf,
  drawings,
  FRONT,
  frontDrawings,
  pageOfMerges,
} from './drawings.ts';
import { htmlOf, pictureOf } from './picture.ts';
import { SHOWN } from './pull-requests.ts';
import { sentOf } from './sent.ts';
import { terminalSvg } from './terminal.ts';

const read = (name: string, kind: string) =>
  JSON.parse(readFileSync(`test/pictures/${name}.${kind}.json`, 'utf8'));

test.each(SHOWN)(
  '$name: the texts in the picture are those that are sent of the report',
  async ({ name, commit }) => {
    const report = read(name, 'report');
    expect(report.head).toBe(commit);
    expect(await sentOf(report)).toEqual(read(name, 'sent'));
    expect(pictureOf(read(name, 'sent'))).toContain(`<h2>`);
    expect(statSync(`docs/pictures/${name}.png`).size).toBeLessThan(100_000);
  },
);

test('the page shows each picture of a pull request, and every other file is shown on some page', () => {
  const page = readFileSync('docs/pictures.md', 'utf8');
  const shown = [...page.matchAll(/!\[[^\]]+\]\(pictures\/([\w-]+)\.png\)/g)].map(([, name]) => name);
  expect(shown.sort()).toEqual([...SHOWN.map(({ name }) => name), 'page'].sort());
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  const texts = [...pages.map((name) => `docs/${name}`), 'site/index.md', 'README.md'].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const isShown = (name: string): boolean => texts.some((text) => text.includes(`pictures/${name}`));
  expect(readdirSync('docs/pictures').filter((name) => !isShown(name))).toEqual([]);
});

test('the terminal and the upgrade graph are drawn from the report', () => {
  const drawn = drawings(read(DRAWN, 'report'));
  expect([...drawn.keys()]).toEqual(['terminal.svg', 'terminal-short.svg', 'upgrade-graph.svg']);
  for (const [name, picture] of drawn) expect(readFileSync(`docs/pictures/${name}`, 'utf8')).toBe(picture);
});

test('what the README begins with is drawn from the report', () => {
  const drawn = frontDrawings(read(FRONT, 'report'));
  expect([...drawn.keys()]).toEqual(['merged.svg', 'merged-check.svg', 'merged-graph.svg']);
  for (const [name, picture] of drawn) expect(readFileSync(`docs/pictures/${name}`, 'utf8')).toBe(picture);
});

test('the page of concepts draws the channels that it writes out', async () => {
  const drawn = await conceptDrawings();
  expect(drawn.size).toBeGreaterThan(4);
  for (const [name, picture] of drawn) expect(readFileSync(`docs/pictures/${name}`, 'utf8')).toBe(picture);
});

test('the page in the picture is the page of today', () => {
  expect(readFileSync('test/pictures/page.sha256', 'utf8')).toBe(digestOf(pageOfMerges()));
  expect(statSync('docs/pictures/page.png').size).toBeLessThan(100_000);
});

test('a terminal has a title, breaks long lines between words, and shows texts as they are', () => {
  const picture = terminalSvg('a < b', [
    { look: 'printed', text: `  ${'word '.repeat(30)}</text>` },
    { look: 'bad', text: '' },
  ]);
  expect(picture).toContain('<title id="title">a &lt; b</title>');
  const rows = [...picture.matchAll(/preserve">(.*)<\/text>/g)].map(([, text]) => text);
  expect(rows).toEqual([`  ${'word '.repeat(20)}`.trimEnd(), `    ${'word '.repeat(10)}&lt;/text&gt;`, '']);
});

test('Markdown is drawn with its escapes, and without the text of diagrams', () => {
  const html = htmlOf([
    '## \\*a\\* `b<c`',
    '',
    '| x | y |',
    '|---|---|',
    '| [`r`](https://e.com/r) | **1** |',
    '```mermaid',
    'z',
    '```',
  ]);
  expect(html).toBe(
    '<h2>&#42;a&#42; <code>b&lt;c</code></h2>\n' +
      '<table><tr><th>x</th><th>y</th></tr><tr><td><a href="https://e.com/r"><code>r</code></a></td><td><b>1</b></td></tr></table>',
  );
});
