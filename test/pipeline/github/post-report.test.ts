/** Creating something once, although answers are lost. */
import { expect, test } from 'vitest';
import { PipelineError } from '../../../pipeline/error.ts';
import { createOnce } from '../../../pipeline/github/post-report.ts';

const lost = new PipelineError('unreachable', 'no answer', { retryable: true });

test('what took effect is found, and not created again', async () => {
  const made: number[] = [];
  const create = async (): Promise<number> => {
    made.push(made.length + 1);
    throw lost;
  };
  expect(await createOnce(create, async () => made[0], 1)).toBe(1);
  expect(made).toEqual([1]);
});

test('what took no effect is sent again', async () => {
  let tries = 0;
  const create = async (): Promise<number> => {
    tries += 1;
    if (tries === 1) throw lost;
    return 7;
  };
  expect([await createOnce(create, async () => undefined, 1), tries]).toEqual([7, 2]);
});

test('a refusal is one', async () => {
  const refused = new PipelineError('denied', 'no');
  await expect(
    createOnce(
      () => Promise.reject(refused),
      async () => 1,
    ),
  ).rejects.toBe(refused);
});
