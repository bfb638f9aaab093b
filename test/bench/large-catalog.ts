/**
 * A package of the largest known shape, and of multiples of it: 152 bundles in two channels, 82 entries in
 * the longer one, of which each covers all that came before with its skipRange.
 */
export function largeCatalog(times: number): { text: string; bundles: number; edges: number } {
  const bundles = 152 * times;
  const versions = Array.from({ length: bundles }, (_, i) => `${Math.floor(i / 10)}.${i % 10}.0`);
  const fast = versions.slice(-82 * times);
  const slow = versions.slice(0, 80 * times);
  const name = (version: string | undefined): string => `p.v${version}`;
  const entries = (all: readonly string[], ranges: boolean): unknown[] =>
    all.map((version, i) => ({
      name: name(version),
      ...(i > 0 ? { replaces: name(all[i - 1]) } : {}),
      ...(i > 2 && i % 7 === 0 ? { skips: [`${name(all[i])}-rc`] } : {}),
      ...(ranges && i > 0 ? { skipRange: `>=${all[0]} <${version}` } : {}),
    }));
  const blobs = [
    { schema: 'olm.package', name: 'p', defaultChannel: 'fast' },
    { schema: 'olm.channel', package: 'p', name: 'fast', entries: entries(fast, true) },
    { schema: 'olm.channel', package: 'p', name: 'slow', entries: entries(slow, false) },
    ...versions.map((version) => ({
      schema: 'olm.bundle',
      package: 'p',
      name: name(version),
      image: `quay.io/example/p:v${version}`,
      properties: [{ type: 'olm.package', value: { packageName: 'p', version } }],
    })),
  ];
  const edges = (fast.length * (fast.length - 1)) / 2 + slow.length;
  return { text: blobs.map((blob) => JSON.stringify(blob)).join('\n'), bundles, edges };
}

/** A package whose channel has so many entries, each of which replaces the one before. */
export function longChannel(count: number): string {
  const name = (i: number): string => `p.v1.${i}.0`;
  const all = Array.from({ length: count }, (_, i) => i);
  const entries = all.map((i) => ({ name: name(i), ...(i > 0 ? { replaces: name(i - 1) } : {}) }));
  const blobs = [
    { schema: 'olm.package', name: 'p', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'p', name: 'stable', entries },
    ...all.map((i) => ({
      schema: 'olm.bundle',
      package: 'p',
      name: name(i),
      image: `quay.io/example/p:v1.${i}.0`,
      properties: [{ type: 'olm.package', value: { packageName: 'p', version: `1.${i}.0` } }],
    })),
  ];
  return blobs.map((blob) => JSON.stringify(blob)).join('\n');
}
