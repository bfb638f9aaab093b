/** A fleet in an artifact of a registry: all of it, or none. */
import { expect, test } from 'vitest';
import { checkFleet, type FleetRequest } from '../../../../pipeline/check/fleet/check-fleet.ts';

const DIGEST = `sha256:${'1'.repeat(64)}`;
const FLEET = 'group,count,platform,package,version\neast,7,4.18,etcd,1.0.0\n';
const FILE = { digest: DIGEST, size: FLEET.length };

const read = (layers: readonly unknown[]) => {
  const bytes = new TextEncoder().encode(JSON.stringify({ layers }));
  return checkFleet({
    policy: { fleet: { files: [`oci://quay.io/org/fleet@${DIGEST}`] } },
    registry: {
      getManifest: async () => ({ mediaType: '', digest: DIGEST, bytes }),
      getBlob: async function* () {
        yield new TextEncoder().encode(FLEET);
      },
    },
  } as unknown as FleetRequest);
};

test('the layers of an artifact are the files of the fleet', async () => {
  expect(await read([FILE])).toMatchObject({ fleet: expect.anything() });
});

test.each([
  ['without a size', { digest: DIGEST }],
  ['without a digest', { size: 5 }],
  ['that is not an object', null],
  ['with a size below zero', { digest: DIGEST, size: -1e12 }],
  ['with a broken size', { digest: DIGEST, size: 1.5 }],
])('a layer %s: the fleet cannot be read, and is not taken without it', async (_, layer) => {
  expect(await read([FILE, layer])).toEqual({
    why: `oci://quay.io/org/fleet@${DIGEST} has a layer without a valid digest and size`,
  });
});

test.each([
  ['no layers', []],
  ['too many bytes', [FILE, { digest: DIGEST, size: 2 ** 30 }]],
])('%s: the fleet cannot be read', async (_, layers) => {
  expect(await read(layers)).toEqual({ why: expect.stringMatching(/has no files|has more than/) });
});
