/** Attack 54 in every format that people read: names and messages hold no character that nobody sees. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tableText } from '../../../pipeline/cli/catalog/table.ts';
import { codeQualityReport } from '../../../pipeline/report/code-quality.ts';
import { sarifReport } from '../../../pipeline/report/sarif.ts';
import { escapeXml, hasUnseen, plainLines, plainText } from '../../../pipeline/text.ts';
import { written } from '../../catalog/olm/universe.ts';
import { crdObject } from '../../fakes/crd-object.ts';
import { folder } from '../../fakes/folder.ts';
import { makeRepository } from '../../fakes/repository.ts';
import { runCommand } from '../../fakes/terminal.ts';

/** One of each kind: width, direction, tag, letter without a shape, terminal, no character, half of one. */
const UNSEEN = ['\u200b', '\u202e', '\u{e0041}', '\u3164', '\u00ad', '\u009b', '\u2028', '\ufffe', '\ud800'];
const NAME = `stable${UNSEEN.join('')}`;

/** A text of a catalog in a page or picture, without the line breaks of the page itself. */
const body = (text: string): string => text.replaceAll(/[\n\t]/g, '');

function catalog(channel: string): string {
  const directory = folder();
  mkdirSync(join(directory, 'v4.20'));
  const p = {
    versions: ['1.0.0', '1.1.0'],
    channels: { [channel]: [{ name: 'p.v1.0.0' }, { name: 'p.v1.1.0' }] },
  };
  writeFileSync(join(directory, 'v4.20', 'catalog.json'), written({ p }));
  return directory;
}

test.each([
  ['graph', 'html'],
  ['graph', 'svg', '--package', 'p'],
  ['graph', 'mermaid', '--package', 'p'],
  ['audit', 'text'],
  ['audit', 'html'],
  ['validate', 'text'],
])('54: %s --format %s shows characters of a name that nobody sees', async (command, format, ...more) => {
  const run = async (channel: string): Promise<string> => {
    const { out, err } = await runCommand([command, 'v4.20', '--format', format, ...more], {
      directory: catalog(channel),
    });
    return textOf(out + err);
  };
  const text = await run(NAME);
  expect(text).toMatch(/200b/);
  expect(hasUnseen(body(text))).toBe(false);
  expect(await run('stable')).not.toMatch(/200b|\\u/);
});

/** Of a page, the data that its script shows; of the rest all. */
function textOf(output: string): string {
  const [, data] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(output) ?? [];
  return data === undefined ? output : textsIn(JSON.parse(data));
}

test('54: findings for code scanning and Code Quality show them', () => {
  const location = { file: 'a.yaml', line: 1, column: 1 };
  const findings = [
    { rule: 'channel/head', severity: 'error' as const, message: NAME, hint: NAME, location },
  ];
  for (const text of [sarifReport({ findings }), codeQualityReport({ findings })]) {
    expect(text).toMatch(/200b/);
    expect(hasUnseen(body(textsIn(JSON.parse(text))))).toBe(false);
  }
});

test('54: markup stays text, and lines stay lines', () => {
  expect(escapeXml(`<a href="x">'&${NAME}`)).toMatch(/^&lt;a href=&quot;x&quot;&gt;&#39;&amp;stable\\u200b/);
  expect(plainLines('one\n\ttwo\u200b\r')).toBe('one\n\ttwo\\u200b\\u000d');
  expect(escapeXml('für 日本語 👩‍🚀')).toBe('für 日本語 👩‍🚀');
});

/** All keys and texts of a value. */
function textsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, one]) => key + textsIn(one))
    .join('');
}

/** What the log of a workflow takes for a command, at the beginning of a line and within one, and what a terminal obeys. */
const COMMANDS = '::error::x ##[stop-commands]y\n::error::z\u001b[31m';

/** A folder `old`, and `new` with a package, a channel and a property of a CRD of this name. */
function named(name: string): string {
  const p = { versions: ['1.0.0'], channels: { stable: [{ name: 'p.v1.0.0' }] } };
  const evil = {
    versions: ['1.0.0'],
    channels: { stable: [{ name: `${name}.v1.0.0` }], [name]: [{ name: `${name}.v1.0.0` }] },
  };
  const crd = (field: string): string =>
    JSON.stringify(crdObject('as.g.io', { [field]: { type: 'string' } }));
  return folder({
    'old/c.json': written({ p }),
    'new/c.json': written({ p, [name]: evil }),
    'crds/old/a.yaml': crd(name),
    'crds/new/a.yaml': crd('a'),
  });
}

test.each([
  ['list', 'packages', 'new'],
  ['list', 'channels', 'new'],
  ['diff', 'old', 'new'],
  ['diff', 'new', 'old', '--pruning', '--whole'],
  ['crd-diff', 'crds/old', 'crds/new'],
  ['audit', 'new', '--all'],
])('72: %s %s %s prints no command of a log and nothing that a terminal obeys', async (...words) => {
  const { out, err } = await runCommand(words, { directory: named(COMMANDS) });
  expect(out).toContain('stop-commands');
  for (const text of [out, err]) expect(text).not.toMatch(LOG_COMMAND);
  expect((await runCommand(words, { directory: named('q') })).out).not.toContain('\\u');
});

test('72: values and lines of a table are safe also where no terminal of a command escapes them', () => {
  expect(plainText('x ##[group]y')).toBe('x #\\u0023[group]y');
  const screen = { isScreen: false, columns: 80 };
  expect(tableText(['A'], [['::error::x']], screen)).not.toMatch(LOG_COMMAND);
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys
const LOG_COMMAND = /^\s*::|##\[|\u001b/m;

test('72: a report names the folder of a catalog without commands', async () => {
  const made = makeRepository();
  onTestFinished(() => made.remove());
  const [base = '', head = ''] = made.chain(
    { 'catalogs/v4.20/p/catalog.json': '' },
    {
      [`catalogs/x\n${COMMANDS}/p/catalog.json`]: written({
        p: { versions: ['1.0.0'], channels: { stable: [{ name: 'p.v1.0.0' }] } },
      }),
    },
  );
  const { out } = await runCommand(['check', '--base', base, '--head', head], { directory: made.directory });
  expect(out).toContain('package p in x');
  expect(out).not.toMatch(LOG_COMMAND);
});
