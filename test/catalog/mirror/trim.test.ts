import { describe, expect, test } from 'vitest';
import { blankJsonProperties, blankProperties } from '../../../catalog/mirror/trim.ts';
import { cpuTime } from '../../fakes/cpu-time.ts';

const SECTION = '\nproperties:\n- type: a\n  value: b\n';

describe('blankProperties', () => {
  test.each([
    ['a sequence at the margin', `name: x${SECTION}image: y\n`, 'name: x\n\n\n\nimage: y\n'],
    ['one behind closed quotes', `name: "x"${SECTION}image: y\n`, 'name: "x"\n\n\n\nimage: y\n'],
    [
      'those of a document behind one with a quote that may be open',
      `name: it is 'x${SECTION}---\nname: x${SECTION}`,
      `name: it is 'x${SECTION}---\nname: x\n\n\n\n`,
    ],
    [
      'the first of two when a quote between them may be open',
      `name: x${SECTION}image: 'y${SECTION}`,
      `name: x\n\n\n\nimage: 'y${SECTION}`,
    ],
  ])('blanks %s', (_, text, blanked) => {
    expect(blankProperties(text)).toBe(blanked);
  });

  test.each([
    ['a quote before may be open', `name: "x${SECTION}`],
    ['the text begins with a quote', `"x${SECTION}`],
    ['a quote within may be open', '\nproperties:\n- "type: a\nimage: y\n'],
    ['an earlier section of the document is in doubt', `name: "x${SECTION}image: y"${SECTION}`],
    ['the quote is in front of another kind that is closed', `name: "x${SECTION}image: y'z${SECTION}`],
  ])('leaves all where %s', (_, text) => {
    expect(blankProperties(text)).toBe(text);
  });

  test('a key that is repeated takes no longer for each time', () => {
    const spent = cpuTime();
    expect(blankProperties('\nproperties:\na:\n'.repeat(50_000))).toBe('\n\na:\n'.repeat(50_000));
    expect(spent()).toBeLessThan(2000);
  });
});

describe('blankJsonProperties', () => {
  const BODY = '{"type":"a","value":{"x":["]"],"y":"say \\"[\\" \\\\"}}';

  test('blanks the list, and what follows keeps its line', () => {
    const compact = `{"name":"x","properties":[${BODY}],"image":"y"}`;
    expect(blankJsonProperties(compact)).toBe('{"name":"x","properties":[],"image":"y"}');
    const stream = `${JSON.stringify(JSON.parse(compact), null, 2)}\n`.repeat(2);
    const blanked = blankJsonProperties(stream);
    const lineOf = (text: string) => text.slice(0, text.lastIndexOf('"image"')).split('\n').length;
    expect(lineOf(blanked)).toBe(lineOf(stream));
    for (const value of blanked.trim().split(/(?<=\})\n(?=\{)/))
      expect(JSON.parse(value)).toEqual({ name: 'x', properties: [], image: 'y' });
  });

  test.each([
    ['the key is deeper', '{"a":{"properties":["b"]}}'],
    ['its value is an object', '{"properties":{"a":["b"]}}'],
    ['it is a value', '{"a":"properties","b":["c"]}'],
    ['it is within a string', '{"a":"\\"properties\\":[1]"}'],
    ['the text has quotes of another kind', `{'a': ', "properties": [', "b": "]"}`],
    ['the text has comments', '{"a": 1, # "\n"properties": [2], "b": "#"}'],
    ['a string does not end', '{"properties":["a]}'],
    ['the list does not end', '{"properties":["a"'],
  ])('leaves all where %s', (_, text) => {
    expect(blankJsonProperties(text)).toBe(text);
  });

  test('brackets that do not match stay an error', () => {
    expect(() => JSON.parse(blankJsonProperties('{"properties":[{]},"a":1}'))).toThrow(SyntaxError);
  });
});
