/** JSON that others wrote: what is nested so deeply that the engine cannot write it again is not read. */
import { expect, test } from 'vitest';
import { PipelineError } from '../../pipeline/error.ts';
import { parsedJson, readJson } from '../../pipeline/json.ts';
import { parseRings } from '../../pipeline/publish/rings/read.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['lists', nested(501)],
  ['objects', `${'{"a":'.repeat(501)}1${'}'.repeat(501)}`],
  ['far more', nested(500_000)],
  ['behind a text with brackets', `["\\"]]]", ${nested(501)}]`],
])('43: nesting beyond 500 levels is not read: %s', (_, text) => {
  expect(parsedJson(text)).toBeUndefined();
  expect(() => readJson(text)).toThrow('the JSON is nested deeper than 500 levels');
});

test.each([nested(500), '["[[[[\\"", "\\\\", {"[": "]"}]', '1', 'null', `[${'[],'.repeat(2000)}[]]`])(
  '43: other JSON is read as it is',
  (text) => {
    expect(readJson(text)).toEqual(JSON.parse(text));
  },
);

test('43: a record that is nested too deeply is an error, not an exception of the engine', () => {
  expect(() => parseRings(nested(500_000), 'f')).toThrow(PipelineError);
});
