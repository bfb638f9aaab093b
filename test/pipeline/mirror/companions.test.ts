import { expect, test } from 'vitest';
import { parseReference, withDigest } from '../../../catalog/reference.ts';
import { companionsOf } from '../../../pipeline/mirror/companions.ts';
import { digestOf } from '../../../pipeline/oci/digest.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { verifySignatures } from '../../../pipeline/oci/signatures/verify.ts';
import type { Registry } from '../../../pipeline/ports.ts';
import { testClient } from '../../fakes/host.ts';
import { describe, sampleImage } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';

test('referrers of a long digest are looked for where their tag is cut', async () => {
  const encoded = 'ab'.repeat(64);
  const image = parseReference(`r.example/a@sha512:${encoded}`);
  const signature = describe('application/json', Buffer.from('signature'));
  const registry = { listReferrers: async () => [signature], resolve: async () => undefined };
  const source = {
    registry: registry as unknown as Registry,
    tags: { of: async () => new Set([`sha512-${encoded.slice(0, 64)}`]) },
    keepsReferrers: () => false,
    firstLists: new Map(),
  };
  const found = await companionsOf(image, [`sha512:${encoded}`], source);
  expect(found.map(({ reference }) => reference)).toMatchObject([{ digest: signature.digest }]);
});

test('no tag is asked for that would be too long, of an image by a sha512 digest', async () => {
  const { host } = await registry();
  const client = testClient([host]);
  const image = sampleImage();
  const at = parseReference(`${host}/a:v1`);
  await pushImage(client, at, { image });
  const digest = digestOf(image.root.bytes, 'sha512');
  const source = {
    registry: client,
    // Whoever may pull may not list tags.
    tags: { of: async () => undefined },
    keepsReferrers: () => true,
    firstLists: new Map(),
  };
  expect(await companionsOf(at, [digest], source)).toEqual([]);
  const trust = { kind: 'keys', keys: [] } as const;
  expect(await verifySignatures(client, withDigest(at, digest), trust)).toEqual({
    verified: [],
    rejected: [],
    unread: [],
  });
});
