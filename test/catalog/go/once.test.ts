import { expect, test } from 'vitest';
import { onceFor } from '../../../catalog/go/once.ts';

test('what belongs to an object is found once, even if there is nothing', () => {
  const asked: string[] = [];
  const find = onceFor(({ name }: { readonly name: string }): number | undefined => {
    asked.push(name);
    return name === 'none' ? undefined : name.length;
  });
  const [one, alike, none] = [{ name: 'one' }, { name: 'one' }, { name: 'none' }];
  expect([one, one, alike, none, none].map(find)).toEqual([3, 3, 3, undefined, undefined]);
  expect(asked).toEqual(['one', 'one', 'none']);
});
