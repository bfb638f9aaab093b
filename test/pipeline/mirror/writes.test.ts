/** Which failures count against the registry that is written to. */
import { expect, test } from 'vitest';
import { PipelineError } from '../../../pipeline/error.ts';
import { countWrites } from '../../../pipeline/mirror/writes.ts';

/** The writes that were tried after 16 failures with a message. */
async function triedAfter(message: string, registry = 'example.com'): Promise<number> {
  const writes = countWrites();
  const fail = () => Promise.reject(new PipelineError('unreachable', message, { retryable: true }));
  for (let i = 0; i < 16; i++) await writes.attempt(registry, 'blob', fail).catch(() => undefined);
  let tried = 0;
  await writes
    .attempt(registry, 'blob', async () => {
      tried++;
    })
    .catch(() => undefined);
  return tried;
}

test.each([
  ['PUT to example.com: no answer', 0],
  ['example.com returned 503 for the upload of x to example.com/a/b', 0],
  ['cannot write to example.com.', 0],
  ['GET to registry.example.com: no answer', 1],
  ['GET to my-example.com/a: no answer', 1],
  ['example.com:5000 returned 503 for the blob', 1],
  ['example.com.au returned 503 for the blob', 1],
  ['registry.example.com returned 503 for the blob of example.com/a', 0],
])('%s', async (message, tried) => {
  expect(await triedAfter(message)).toBe(tried);
});

test('Docker Hub is asked at another host', async () => {
  expect(await triedAfter('PUT to registry-1.docker.io: no answer', 'docker.io')).toBe(0);
});
