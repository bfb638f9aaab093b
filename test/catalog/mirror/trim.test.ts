import { describe, expect, test } from 'vitest';
import { blankProperties } from '../../../catalog/mirror/trim.ts';
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
