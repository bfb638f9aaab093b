/** Where a mirror is to be: the forms of `--to`. */
import { expect, test } from 'vitest';
import { InvalidOption } from '../../../catalog/mirror/invalid-option.ts';
import { parseHome } from '../../../catalog/mirror/style.ts';

test.each([
  ['mirror.example', { registry: 'mirror.example', path: '' }],
  ['mirror.example:5000/olm', { registry: 'mirror.example:5000', path: 'olm' }],
  ['registry:5000', { registry: 'registry:5000', path: '' }],
  ['registry:5000/', { registry: 'registry:5000', path: '' }],
])('%s is the same place with docker:// before it', (text, place) => {
  const home = { transport: 'registry', ...place };
  expect(parseHome(text)).toEqual(home);
  expect(parseHome(`docker://${text}`)).toEqual(home);
});

test.each(['registry', 'docker://registry', ':5000', 'docker://:5000'])('%s names no host', (text) => {
  expect(() => parseHome(text)).toThrow(InvalidOption);
});
