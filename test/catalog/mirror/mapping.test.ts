/** What a line of mapping.txt may hold: what is seen as one line is one image. */
import { expect, test } from 'vitest';
import { readMapping } from '../../../catalog/mirror/mapping.ts';

const SEEN = 'quay.io/acme/a:1=mirror.example.com/a:1';

test.each([
  ['a lone CR', '\r', 'U+000D'],
  ['a vertical tab', '\v', 'U+000B'],
  ['a form feed', '\f', 'U+000C'],
  ['the next line of ISO 6429', '\u0085', 'U+0085'],
  ['a line separator', '\u2028', 'U+2028'],
  ['a paragraph separator', '\u2029', 'U+2029'],
  ['a null byte', '\0', 'U+0000'],
])('109: %s hides no second image in a line', (_, character, name) => {
  const hidden = `${SEEN}${character}quay.io/acme/b:1=mirror.example.com/b:1`;
  for (const line of [hidden, `# a comment${character}${SEEN}`]) {
    const { mappings, findings } = readMapping(`${SEEN}\n${line}\n`, 'mapping.txt');
    expect(mappings).toHaveLength(1);
    expect(findings).toMatchObject([
      {
        severity: 'error',
        message: `the character ${name} may end the line for some programs, expected one line an image`,
        location: { line: 2, column: line.indexOf(character) + 1 },
      },
    ]);
  }
});

test('lines that end with CRLF, tabs and several images in a line are what oc reads', () => {
  const two = 'quay.io/a/b:1=m.example.com/b:1 quay.io/a/c:1=m.example.com/c:1';
  const { mappings, findings } = readMapping(`\t${SEEN}\t# old\r\n\r\n${two}\r\n`, 'mapping.txt');
  expect(findings).toEqual([]);
  expect(mappings).toHaveLength(3);
});
