/** Items that are added to a list in JSON: the text keeps its indentation, its lines and Go's escapes. */
import { expect, test } from 'vitest';
import { fileText, joinedText } from '../../../catalog/edit/file.ts';
import { addDeprecation } from '../../../catalog/edit/package.ts';

const PACKAGE = { schema: 'olm.package', name: 'p', defaultChannel: 'a' };
const deprecations = (...entries: object[]): object => ({
  schema: 'olm.deprecations',
  package: 'p',
  entries,
});
const OLD = { reference: { schema: 'olm.bundle', name: 'p.v1' }, message: 'use >=2' };
const NEW = { reference: { schema: 'olm.channel', name: 'a' }, message: 'gone' };

test.each([
  ['two spaces', 2],
  ['four spaces', 4],
  ['one line', 0],
])('JSON with %s stays so', (_, indent) => {
  const written = (value: object): string =>
    `${JSON.stringify(value, null, indent).replaceAll('>', '\\u003e')}\n`;
  const before = written(PACKAGE) + written(deprecations(OLD));
  const files = [fileText('c.json', new TextEncoder().encode(before))];
  const { reference, message } = NEW;
  const [after] = addDeprecation(files, 'p', { ...reference, message });
  expect(after && joinedText(after)).toBe(written(PACKAGE) + written(deprecations(OLD, NEW)));
});

test.each(['\u2028', '\u2029', '\r'])(
  'a line break that is not a line feed cuts no document: %j',
  (lineBreak) => {
    const text = `---\nschema: olm.package\nname: p\ndescription: "a${lineBreak}---b"\n`;
    const { pieces } = fileText('c.yaml', new TextEncoder().encode(text));
    expect(pieces.map(({ blob }) => blob?.name)).toEqual(['p']);
  },
);
