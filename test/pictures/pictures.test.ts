/** What docs/pictures.md shows is what Portolan says today: where a text changes, `npm run pictures` draws it anew. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { htmlOf, pictureOf } from './picture.ts';
import { SHOWN } from './pull-requests.ts';
import { sentOf } from './sent.ts';

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
  expect(shown.sort()).toEqual(SHOWN.map(({ name }) => name).sort());
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  const text = pages.map((name) => readFileSync(`docs/${name}`, 'utf8')).join('');
  expect(readdirSync('docs/pictures').filter((name) => !text.includes(`(pictures/${name})`))).toEqual([]);
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
