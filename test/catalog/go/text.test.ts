import { expect, test } from 'vitest';
import { goTrimmed } from '../../../catalog/go/text.ts';
import { cpuTime } from '../../fakes/cpu-time.ts';

test.each([
  ['', ''],
  [' \t\r\n', ''],
  ['a', 'a'],
  ['\u0085\u00a0a b\u3000\n', 'a b'],
  ['\ufeffa\ufeff', '\ufeffa\ufeff'],
])('%j is trimmed to %j', (text, trimmed) => {
  expect(goTrimmed(text)).toBe(trimmed);
});

test('white space within takes no longer than other characters', () => {
  const text = `a${' '.repeat(200_000)}b`;
  const spent = cpuTime();
  expect(goTrimmed(text)).toBe(text);
  expect(spent()).toBeLessThan(2000);
});
