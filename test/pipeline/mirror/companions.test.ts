import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { companionsOf } from '../../../pipeline/mirror/companions.ts';
import type { Registry } from '../../../pipeline/ports.ts';
import { describe } from '../../fakes/image.ts';

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
