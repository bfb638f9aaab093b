import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readinessLines } from '../../catalog/mirror/report.ts';
import { findingText, hasUnseen, linesText, plainText, screenText } from '../../pipeline/text.ts';

/** What the log of a workflow takes for a command. */
const COMMAND = /^\s*::|##[a-z]*\[/im;

const hostile = [
  '::error::x',
  '  ::add-mask::x',
  'x\n::error::x',
  'x\r::error::x',
  'x\u2028::error::x',
  '##[group]x',
  'x ##[error]y',
  'x ##vso[task.setvariable variable=x]y',
  'x ##VSO[task.complete]y',
  "x ##teamcity[buildStop comment='x']y",
];

test.each(hostile)('a value begins no line and is no command: %j', (value) => {
  const lines = linesText([value, `  ${value}: missing`]);
  expect(lines.split('\n')).toHaveLength(3);
  expect(lines).not.toMatch(COMMAND);
  const finding = { rule: 'a/b', severity: 'error', message: value, hint: value } as const;
  const text = findingText({ ...finding, location: { file: value, line: 2, column: 1 } });
  expect(text.split('\n')).toHaveLength(3);
  expect(text).not.toMatch(COMMAND);
  const missing = [{ reference: value, reason: 'absent' as never, why: value, bundles: [value] }];
  const report = { bundles: 1, ready: 0, unchecked: 0, references: 1, pullable: 0, packages: [], missing };
  expect(linesText(readinessLines(report)).split('\n')).toHaveLength(3);
});

test('other text stays as it is', () => {
  const lines = ['2001:db8::1 is not reachable', 'a :: b', '# one', '  fix: x'];
  expect(linesText(lines)).toBe(`${lines.join('\n')}\n`);
});

test('lines are escaped by linesText alone, and before they are joined', () => {
  const files = readdirSync('pipeline', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const joined = files.filter((file) =>
    /split\('\\n'\)\.map\(plainText\)|map\(plainText\)\.join\('\\n'\)|plainText\([^()]*\.join\('\\n'\)\)/.test(
      readFileSync(join('pipeline', file), 'utf8'),
    ),
  );
  expect(joined).toEqual([]);
});

test('attack 54: a terminal gets no character that controls it or turns text around', () => {
  const json = JSON.stringify({ name: 'a\u009b31m\u202eb\u2066\u0085' }, null, 2);
  expect(screenText(json)).toBe('{\n  "name": "a\\u009b31m\\u202eb\\u2066\\u0085"\n}');
  expect(JSON.parse(screenText(json))).toEqual(JSON.parse(json));
  expect(screenText('\u001b]0;title\u0007\tä\r\n')).toBe('\\u001b]0;title\\u0007\tä\r\n');
});

test.each([
  ['no width', 'stable\u200b', 'stable\\u200b'],
  ['a joiner of words', 'stable\u2060', 'stable\\u2060'],
  ['a tag beyond 16 bits', 'stable\u{e0041}', 'stable\\udb40\\udc41'],
  ['a blank that is a letter', 'stable\u3164', 'stable\\u3164'],
  ['a soft hyphen', 'sta\u00adble', 'sta\\u00adble'],
  ['a selector behind a letter', 'stable\ufe0f', 'stable\\ufe0f'],
  ['a mark of direction', 'stable\u200e', 'stable\\u200e'],
  ['a byte order mark', '\ufeffstable', '\\ufeffstable'],
])('attack 54: a character that nobody sees is shown: %s', (_, text, shown) => {
  expect([plainText(text), screenText(text), hasUnseen(text)]).toEqual([shown, shown, true]);
  expect(JSON.parse(`"${shown}"`)).toBe(text);
});

test.each(['stable', 'für', '日本語', 'a b', '⚠️ ✅', '👩‍🚀', '❤️‍🔥', 'e\u0301'])(
  'attack 54: what people see stays: %s',
  (text) => {
    expect([plainText(text), screenText(text), hasUnseen(text)]).toEqual([text, text, false]);
  },
);
