import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSharedFile, openSpool, type Slot } from '../../../../pipeline/catalogs/render/ordered-spool.ts';
import { folder } from '../../../fakes/folder.ts';

test.each([
  ['memory', 1 << 30],
  ['a file', 0],
])('texts come out of %s in the order in which they are asked for', (_, mostHeld) => {
  const spool = openSpool(mostHeld);
  onTestFinished(() => spool.close());
  const texts = Array.from({ length: 600 }, (_, i) => `${i}: ${'é𝄞x'.repeat((i * i) % 5000)}\n`);
  // One that is larger than any block.
  texts.push('y'.repeat(3_000_000));
  const slots = texts.map((text) => spool.put(text));
  expect(taken(spool.bytes(slots))).toBe(texts.join(''));
  expect(taken(spool.bytes([...slots].reverse()))).toBe([...texts].reverse().join(''));
  const odd = slots.filter((_, i) => i % 2 === 1);
  expect(taken(spool.bytes(odd))).toBe(texts.filter((_, i) => i % 2 === 1).join(''));
  expect(taken(spool.bytes([] as Slot[]))).toBe('');
});

test('two spools share one file', () => {
  const shared = openSharedFile();
  if (!shared) throw new Error('no file can be made');
  const spools = [openSpool(0, shared), openSpool(0, shared)] as const;
  onTestFinished(() => spools[0].close());
  const texts = Array.from({ length: 40 }, (_, i) => `${i}: ${'é𝄞x'.repeat(i * 2000)}\n`);
  texts.push('y'.repeat(3_000_000), 'z', 'y'.repeat(2_000_000));
  const slots = texts.map((text, i) => spools[i % 3 === 0 ? 0 : 1].put(text));
  spools[1].flush();
  expect(taken(spools[0].bytes(slots))).toBe(texts.join(''));
});

test('where no file can be made there is still the memory', () => {
  vi.stubEnv('TMPDIR', '/nowhere/at/all');
  const spool = openSpool(0);
  onTestFinished(() => {
    spool.close();
    vi.unstubAllEnvs();
  });
  const slots = Array.from({ length: 5 }, (_, i) => spool.put(`${i}`.repeat(500_000)));
  expect(taken(spool.bytes([...slots].reverse()))).toHaveLength(2_500_000);
});

test('the file has no name', () => {
  // A folder of its own: other tests make and remove files in the one that they share.
  const temporary = folder();
  vi.stubEnv('TMPDIR', temporary);
  const spool = openSpool(0);
  onTestFinished(() => {
    spool.close();
    vi.unstubAllEnvs();
  });
  const slot = spool.put('x'.repeat(10));
  expect(taken(spool.bytes([slot]))).toBe('xxxxxxxxxx');
  expect(readdirSync(temporary, { recursive: true })).toEqual([expect.stringMatching(/^portolan-\w+$/)]);
});

function taken(pieces: Iterable<Uint8Array>): string {
  const decoder = new TextDecoder();
  let text = '';
  for (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}
