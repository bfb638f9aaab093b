import { expect, test } from 'vitest';
import { secondReading } from '../../../catalog/bundle/second-reading.ts';

const read = (text: string): string | undefined => {
  const bytes = secondReading(Buffer.from(text));
  return bytes && Buffer.from(bytes).toString();
};

test('a file with one document is read twice alike', () => {
  expect(read('a: 1\n')).toBeUndefined();
  expect(read('---\na: 1\n---\n')).toBeUndefined();
});

test('what the buffer holds behind the first document comes before the file itself', () => {
  expect(read('a: 1\n---\nb: 2\n')).toBe('b: 2\na: 1\n---\n');
  expect(read('a: 1\n---\nb: 2\n---\nc: 3\n')).toBe('b: 2\n---\n');
});

test('the second document ends where the buffer ends: there the file begins again', () => {
  const second = `b: ${'x'.repeat(5000)}\n`;
  expect(read(`a: 1\n---\n${second}`)).toBe(`${second.slice(0, 4096 - 9)}a: 1\n---\n`);
});
