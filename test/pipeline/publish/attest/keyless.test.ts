/** A signature without a key is the job's own, or none. */
import { expect, test } from 'vitest';
import { PipelineError } from '../../../../pipeline/error.ts';
import { keylessBundle } from '../../../../pipeline/publish/attest/keyless.ts';

test('a token that names nobody signs nothing, and the error says what a job needs', async () => {
  const signed = keylessBundle(Buffer.from('{}'), {
    kind: 'keyless',
    token: 'x.y.z',
    fulcio: 'http://127.0.0.1:1',
    rekor: 'http://127.0.0.1:1',
  });
  const error = await signed.catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(PipelineError);
  expect(error).toMatchObject({
    code: 'denied',
    message: expect.stringContaining('cannot sign without a key: '),
    hint: expect.stringContaining('id-token: write'),
  });
});
