/** What people see of copies that failed. */
import { expect, test } from 'vitest';
import { failureLines } from '../../../pipeline/cli/mirror/copy-output.ts';

test('images of a host that does not answer are one line, one of them is named, and others are named each', () => {
  const why = 'GET to m.example.com: connection refused';
  const failed = ['a', 'b', 'c'].map((name) => ({
    source: `quay.io/${name}:1`,
    destination: `m.example.com/${name}:1`,
    why,
    isUnanswered: true as const,
  }));
  const absent = { source: 'quay.io/d:1', destination: 'm.example.com/d:1', why: 'does not exist' };
  const lines = (some: typeof failed) => failureLines({ failed: [...some, absent], refused: [] });
  const last = 'failed quay.io/d:1 -> m.example.com/d:1: does not exist';
  expect(lines(failed)).toEqual([`failed 3 images: ${why}`, last]);
  expect(lines(failed.slice(0, 1))).toEqual([`failed quay.io/a:1 -> m.example.com/a:1: ${why}`, last]);
});
