import { expect, test } from 'vitest';
import { LruCache } from '../../pipeline/lru-cache.ts';

test('what was asked for longest ago makes room', () => {
  const kept = new LruCache<string>(3);
  kept.keep('a', 'A', 1);
  kept.keep('b', 'B', 1);
  kept.keep('c', 'C', 1);
  kept.get('a');
  kept.keep('d', 'D', 1);
  expect(['a', 'b', 'c', 'd'].map((key) => kept.get(key))).toEqual(['A', undefined, 'C', 'D']);
});

test('what is heavier than all the room is not kept, and nothing goes for it', () => {
  const kept = new LruCache<string>(2);
  kept.keep('a', 'A', 1);
  kept.keep('huge', 'H', 3);
  expect([kept.get('a'), kept.get('huge')]).toEqual(['A', undefined]);
});

test('the same key weighs once', () => {
  const kept = new LruCache<string>(2);
  for (let i = 0; i < 5; i++) kept.keep('a', `A${i}`, 1);
  kept.keep('b', 'B', 1);
  expect([kept.get('a'), kept.get('b')]).toEqual(['A4', 'B']);
});

test('what nobody asks for in some rounds goes, and what is asked for stays', () => {
  const kept = new LruCache<string>(9);
  kept.keep('a', 'A', 1);
  kept.keep('b', 'B', 1);
  for (let round = 0; round < 4; round++) {
    kept.get('b');
    kept.endRound(2);
  }
  expect([kept.get('a'), kept.get('b')]).toEqual([undefined, 'B']);
});

test('what was kept in the last rounds stays', () => {
  const kept = new LruCache<string>(9);
  kept.keep('a', 'A', 1);
  for (let round = 0; round < 2; round++) kept.endRound(2);
  expect(kept.get('a')).toBe('A');
});
