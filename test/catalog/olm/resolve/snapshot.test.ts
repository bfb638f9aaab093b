import { describe, expect, test } from 'vitest';
import { candidatesOf, disorderText } from '../../../../catalog/olm/resolve/snapshot.ts';

const entry = (name: string, replaces = '', skips: readonly string[] = []) => ({ name, replaces, skips });
const order = (...entries: ReturnType<typeof entry>[]): readonly string[] | string => {
  const found = candidatesOf(entries);
  return found.kind === 'ordered'
    ? found.entries.map(({ name }) => name)
    : disorderText(found, 'stable', 'p');
};

describe('candidatesOf', () => {
  test('orders a chain from its head, however it is written', () => {
    expect(order(entry('a'), entry('c', 'b'), entry('b', 'a'))).toEqual(['c', 'b', 'a']);
  });

  test('drops what anybody skips, and follows the chain through it', () => {
    expect(order(entry('c', 'b', ['b']), entry('b', 'a'), entry('a'))).toEqual(['c', 'a']);
  });

  test('an absent bundle ends the chain', () => expect(order(entry('b', 'gone'))).toEqual(['b']));

  test('ranges make no order: only names do', () => {
    expect(order(entry('a'), entry('b'))).toContain('2 replacement chains were found in channel "stable"');
  });

  test('says how many chains there are, and names the first, for it is said of each version', () => {
    const apart = (count: number) => order(...Array.from({ length: count }, (_, i) => entry(`v${i}`)));
    expect(apart(20)).toMatch(/20 replacement chains .*: v0, .*, v19$/);
    expect(apart(2000)).toMatch(/2000 replacement chains .*: v0, .*, v19 and 1980 more$/);
  });

  test('says what is wrong as the resolver does', () => {
    expect(order(entry('a', 'b'), entry('b', 'a'))).toContain('no channel heads');
    expect(order(entry('c', 'b'), entry('b', 'a'), entry('a', 'b'))).toContain(
      'a cycle exists in the chain of replacement beginning with "c"',
    );
  });

  test('chains of many heads that run together are walked once', () => {
    const chain = Array.from({ length: 2000 }, (_, i) => entry(`v${i}`, i > 0 ? `v${i - 1}` : ''));
    const heads = Array.from({ length: 2000 }, (_, i) => entry(`h${i}`, 'v1999'));
    expect(candidatesOf([...chain, ...heads]).kind).toBe('many-heads');
  });
});
