/** What no command may write, whichever it is: commands for the log of a workflow, and passwords in addresses. */
import { expect, test } from 'vitest';
import { PipelineError } from '../../pipeline/error.ts';
import { keepAuthorization, withoutSecrets, withoutUserinfo } from '../../pipeline/secrets.ts';
import { logSafe } from '../../pipeline/text.ts';
import { written } from '../catalog/olm/universe.ts';
import { folder } from '../fakes/folder.ts';
import { runCommand } from '../fakes/terminal.ts';

const LOG_COMMAND = /^\s*::|##\[/m;

test.each([
  ['a name at the beginning of a line', 'x\n::error::y', 'x\n\\u003a:error::y'],
  ['behind blanks', 'x\n \u00a0::error::y', 'x\n \u00a0\\u003a:error::y'],
  ['behind a carriage return', 'x\r::error::y', 'x\r\\u003a:error::y'],
  ['at the beginning of the text', '::debug::y', '\\u003a:debug::y'],
  ['within a line', 'x ##[group]y', 'x #\\u0023[group]y'],
  ['colons within a line', 'C::d ::e', 'C::d ::e'],
])('74: %s is no command', (_, text, safe) => expect(logSafe()(text)).toBe(safe));

test('74: texts that follow each other are read as one', () => {
  const safe = logSafe();
  expect(['x', '::y', '\n', '  ', '::error::z', '::'].map(safe)).toEqual([
    'x',
    '::y',
    '\n',
    '  ',
    '\\u003a:error::z',
    '::',
  ]);
});

test('74: a text of a million colons or blanks takes steps of its length', () => {
  expect(logSafe()(' '.repeat(1e6)).length).toBe(1e6);
  expect(logSafe()(':'.repeat(1e6)).length).toBe(1e6 + 5);
});

const NAME = '::error::x ##[stop-commands]y';

function catalogs(name: string): string {
  const package_ = { versions: ['1.0.0'], channels: { [name]: [{ name: `${name}.v1.0.0` }] } };
  return folder({ 'c/c.json': written({ [name]: package_ }) });
}

test.each([
  ['audit', 'c', '--all'],
  ['migrate-to-v1', 'c', '--installed', `${NAME}=1.0.0`],
  ['next', 'c', '--package', 'none'],
  ['validate', 'c'],
  ['render', `${NAME}/x`],
  [NAME],
])('74: %s %s prints no command of a log', async (...words) => {
  const { out, err } = await runCommand(words, { directory: catalogs(NAME) });
  expect(out + err).toMatch(/stop-commands|none/);
  expect(out).not.toMatch(LOG_COMMAND);
  expect(err).not.toMatch(LOG_COMMAND);
});

test('74: JSON means the same, and data stays as it is', async () => {
  const directory = catalogs(NAME);
  const { out } = await runCommand(['list', 'packages', 'c', '--json'], { directory });
  expect(out).not.toMatch(LOG_COMMAND);
  expect(JSON.stringify(JSON.parse(out))).toContain(NAME);
  const rendered = await runCommand(['render', 'c', '-o', 'yaml'], { directory });
  expect(rendered.out).toContain('##[stop-commands]y');
});

const SECRET = 'SECRETPW12';

test.each([
  [`https://user:${SECRET}@quay.io/a/b:v1`, 'https://***@quay.io/a/b:v1'],
  [`"https://${SECRET}@github.com"`, '"https://***@github.com"'],
  [`at https://u:${SECRET}@${SECRET}@host:5000/x.`, 'at https://***@host:5000/x.'],
  [`user:${SECRET}@quay.io/a/b:v1`, '***@quay.io/a/b:v1'],
  [`/tmp/https:/user:${SECRET}@github.com/a/b`, '/tmp/https:/***@github.com/a/b'],
  [`docker://user:${SECRET}@localhost:5000/a and more`, 'docker://***@localhost:5000/a and more'],
  ['ssh://git@github.com/a/b', 'ssh://git@github.com/a/b'],
  ['quay.io/a/b:v1@sha256:00aa', 'quay.io/a/b:v1@sha256:00aa'],
  ['b:v1@sha256:00aa=m/b:v1', 'b:v1@sha256:00aa=m/b:v1'],
  ['mail mailto:a@b.example or <a@b.example>', 'mail mailto:a@b.example or <a@b.example>'],
  ['https://quay.io/a/@b/c', 'https://quay.io/a/@b/c'],
])('75: %s is shown as %s', (text, shown) => {
  expect(withoutUserinfo(text)).toBe(shown);
  expect(new PipelineError('usage', text).message).toBe(shown);
});

test('88: a folder that looks like a name and a password stays in a path', () => {
  expect(withoutUserinfo('"catalogs/v4.20/a:b@c/x.json"')).toBe('"catalogs/v4.20/a:b@c/x.json"');
});

test.each([
  ['render', `https://user:${SECRET}@quay.io/a/b:v1`],
  ['render', `user:${SECRET}@quay.io/a/b:v1`],
  ['render', `https://user:a/${SECRET}@quay.io/a/b:v1`],
  ['verify', `docker://user:${SECRET}@quay.io/a/b:v1`, '--key', 'k'],
  ['mirror', 'plan', 'c', '--to', `user:${SECRET}@m.example/x`],
])('75: %s %s repeats no password', async (...words) => {
  const { out, err, exit } = await runCommand(words, { directory: catalogs('p') });
  expect(exit).toBe(2);
  expect(out + err).not.toContain(SECRET);
});

test('75: a name and a password that a host repeats are taken out, also without the padding of Base64', () => {
  const sent = Buffer.from('joe:hunter2-hunter2s').toString('base64');
  expect(sent).toMatch(/=$/);
  keepAuthorization(`Basic ${sent}`);
  expect(withoutSecrets(`denied ${sent}`)).toBe('denied ***');
  expect(withoutSecrets(`denied ${sent.replace(/=+$/, '')} hunter2-hunter2s`)).toBe('denied *** ***');
});
