/** Trusted roots that people pass. */
import { expect, test } from 'vitest';
import { verifierBy } from '../../../../pipeline/oci/signatures/sigstore.ts';

test('a root whose certificates are none is a mistake of whoever passes it', async () => {
  const certificates = [{ rawBytes: 'AAAA' }];
  const root = { certificateAuthorities: [{ certChain: { certificates } }] };
  await expect(verifierBy(root)).rejects.toMatchObject({
    code: 'usage',
    message: 'cannot read the trusted root',
  });
});
