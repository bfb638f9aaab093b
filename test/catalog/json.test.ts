/** JSON that others wrote: what is nested so deeply that the engine cannot write it again is not read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonText, parsedJson, parseJson, parseUniqueJson } from '../../catalog/json.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { parseRings } from '../../pipeline/publish/rings/read.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['lists', nested(1001)],
  ['objects', `${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`],
  ['far more', nested(500_000)],
  ['behind a text with brackets', `["\\"]]]", ${nested(1001)}]`],
])('43: nesting beyond 1000 levels is not read: %s', (_, text) => {
  expect(parsedJson(text)).toBeUndefined();
  expect(() => parseJson(text)).toThrow('the JSON is nested deeper than 1000 levels');
});

test.each([nested(1000), '["[[[[\\"", "\\\\", {"[": "]"}]', '1', 'null', `[${'[],'.repeat(3000)}[]]`])(
  '43: other JSON is read as it is',
  (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  },
);

test.each(['{"a":1,"a":1}', '[1,{"b":{"a":1},"a":[{"a":1}],"\\u0061" :2}]', '{"\\\\":1,"x":"\\"","\\\\":2}'])(
  '99: a repeated key is an error in what is signed: %s',
  (text) => {
    expect(parseJson(text)).toBeDefined();
    expect(() => parseUniqueJson(text)).toThrow(/^the JSON has the key ".*" twice$/);
  },
);

test.each([
  '{"a":{"a":["a","a"]},"b":"a","c":"a\\":","A":1}',
  '"a"',
  '[{"a":1},{"a":2}]',
  ' { "a" : "\\\\" , "b" : "a" } ',
])('99: other JSON is read as it is: %s', (text) => {
  expect(parseUniqueJson(text)).toEqual(JSON.parse(text));
});

test('43: a record that is nested too deeply is an error, not an exception of the engine', () => {
  expect(() => parseRings(nested(500_000), 'f')).toThrow(PipelineError);
});

test('a value of a manifest has a text, whatever its integers are', () => {
  expect(jsonText({ a: [18446744073709551615n, 1] })).toBe('{"a":["18446744073709551615",1]}');
  expect(jsonText(undefined)).toBe('nothing');
});

test('43: nothing else calls the parser of the engine', () => {
  const files = ['catalog', 'pipeline', 'functions', 'playground'].flatMap((layer) =>
    readdirSync(layer, { recursive: true, encoding: 'utf8' }).map((file) => join(layer, file)),
  );
  // Written by scripts: a program for a browser, and one for a workflow.
  const written = ['pipeline/report/page/script.ts', 'pipeline/policy/setup/workflows.ts'];
  const callers = files
    .filter((file) => file.endsWith('.ts') && !written.includes(file))
    .filter((file) => /JSON\.parse|\.json\(\)/.test(readFileSync(file, 'utf8')));
  expect(callers).toEqual(['catalog/json.ts']);
});
