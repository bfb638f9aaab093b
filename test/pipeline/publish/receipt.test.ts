/** What a receipt of a publish says to those who go on from it. */
import { expect, test } from 'vitest';
import { readPublishReceipt } from '../../../pipeline/publish/receipt.ts';

const DIGEST = `sha256:${'1'.repeat(64)}`;

test.each([
  ['quay.io/a/b:v1', `quay.io/a/b:v1@${DIGEST}`],
  // Published without a tag: none is made up.
  ['quay.io/a/b', `quay.io/a/b@${DIGEST}`],
  ['oci:out', 'oci:out'],
  ['oci-archive:out:v1', 'oci-archive:out:v1'],
])('the image of a receipt: %s', (image, expected) => {
  expect(readPublishReceipt(JSON.stringify({ kind: 'PublishReceipt', image, digest: DIGEST }))).toBe(
    expected,
  );
});

test('what is not a receipt has no image', () => {
  for (const text of ['', '{', '{}', '{"kind":"PublishReceipt"}'])
    expect(readPublishReceipt(text)).toBeUndefined();
});
