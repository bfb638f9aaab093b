import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChainProblem, shortestChain } from '../../../../catalog/olm/suggest/shortest-chain.ts';

/** Positions up to the head, and all pairs of an upgrade that is allowed. */
function problem(
  size: number,
  pairs: readonly (readonly [number, number])[],
  { required = [], candidates }: { required?: readonly number[]; candidates?: readonly number[] } = {},
): ChainProblem {
  const allowed = new Set(pairs.map(([from, to]) => `${from} ${to}`));
  const all = Array.from({ length: size }, (_, i) => i);
  return {
    size,
    candidates: candidates ?? all,
    required: new Set(required),
    may: (from, to) => allowed.has(`${from} ${to}`),
  };
}

function isChain({ size, required, may }: ChainProblem, chain: readonly number[]): boolean {
  return (
    chain.at(-1) === size - 1 &&
    [...required].every((one) => chain.includes(one)) &&
    chain.every((one, i) => i === 0 || may(chain[i - 1] as number, one)) &&
    Array.from({ length: size - 1 }, (_, from) => chain.some((to) => to > from && may(from, to))).every(
      Boolean,
    )
  );
}

/** By trying every set of candidates. */
function bruteForce(one: ChainProblem): number | undefined {
  let best: number | undefined;
  for (let bits = 0; bits < 2 ** one.candidates.length; bits++) {
    const chain = one.candidates.filter((_, i) => (bits >> i) % 2 === 1);
    if (isChain(one, chain) && (best === undefined || chain.length < best)) best = chain.length;
  }
  return best;
}

const SIZE = 8;

const anyProblem = fc
  .record({
    size: fc.integer({ min: 1, max: SIZE }),
    dice: fc.array(fc.nat(99), { minLength: SIZE * SIZE, maxLength: SIZE * SIZE }),
    density: fc.constantFrom(25, 50, 75),
    required: fc.array(fc.nat(SIZE - 1), { maxLength: 2 }),
    refused: fc.array(fc.nat(SIZE - 1), { maxLength: 3 }),
  })
  .map(({ size, dice, density, required, refused }) => {
    const all = Array.from({ length: size }, (_, i) => i);
    const pairs = all.flatMap((from) =>
      all
        .filter((to) => to > from && (dice[from * SIZE + to] ?? 0) < density)
        .map((to) => [from, to] as const),
    );
    const candidates = all.filter((one) => one === size - 1 || !refused.includes(one));
    return problem(size, pairs, { candidates, required: required.filter((one) => candidates.includes(one)) });
  });

describe('the shortest chain', () => {
  test('is as short as the best of all chains', () => {
    fc.assert(
      fc.property(anyProblem, (one) => {
        const best = bruteForce(one);
        const found = shortestChain(one);
        expect(found?.positions.length).toBe(best);
        if (found) {
          expect(isChain(one, found.positions)).toBe(true);
          expect(found.atLeast).toBe(best);
        }
      }),
    );
  });

  test('without a budget is a chain all the same, and its bound is no more than the best', () => {
    fc.assert(
      fc.property(anyProblem, (one) => {
        const best = bruteForce(one);
        const found = shortestChain(one, { left: 0, pairs: 0 });
        if (!found) return;
        expect(isChain(one, found.positions)).toBe(true);
        expect(found.atLeast).toBeLessThanOrEqual(best ?? 0);
      }),
    );
  });

  test('is one entry where the head follows all, and all of them where each follows only the one before', () => {
    const below = [0, 1, 2, 3];
    const open = problem(
      5,
      below.map((from) => [from, 4] as const),
    );
    expect(shortestChain(open)).toEqual({ positions: [4], atLeast: 1 });
    const steps = problem(
      5,
      below.map((from) => [from, from + 1] as const),
    );
    expect(shortestChain(steps)).toEqual({ positions: [1, 2, 3, 4], atLeast: 4 });
  });

  test('is none where a version has no way up', () => {
    expect(shortestChain(problem(3, [[0, 1]]))).toBeUndefined();
  });

  test('of 1,000 versions asks about each pair a few times at most', () => {
    let asked = 0;
    const size = 1000;
    const found = shortestChain({
      size,
      candidates: Array.from({ length: size }, (_, i) => i),
      required: new Set([499]),
      may: (from, to) => {
        asked++;
        return from >= 499 || to <= 499;
      },
    });
    expect(found).toEqual({ positions: [499, 999], atLeast: 2 });
    expect(asked).toBeLessThan(10 * size);
  });

  test('of a channel made to be hard gives up in the end, with a chain and a bound', () => {
    const size = 150;
    let seed = 1;
    const random = (): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    const pairs = Array.from({ length: size }, (_, to) =>
      Array.from(
        { length: to > 0 ? 7 : 0 },
        (_skip, i) => [i === 0 ? to - 1 : Math.floor(random() * to), to] as const,
      ),
    ).flat();
    const one = problem(size, pairs);
    let asked = 0;
    const found = shortestChain(
      { ...one, may: (from, to) => ++asked > 0 && one.may(from, to) },
      { left: 100_000, pairs: 0 },
    );
    expect(isChain(one, found?.positions ?? [])).toBe(true);
    expect(found?.atLeast).toBeLessThan(found?.positions.length ?? 0);
    expect(asked).toBeLessThan(2_000_000);
  });
});
