import { expect, test } from 'vitest';
import { higherVersions } from '../../../../catalog/rules/graph/v1-versions.ts';
import { catalogFrom } from '../../olm/universe.ts';

/** The versions that are proposed in place of one that replaces another, in a package that has these. */
async function proposed(to: string, from: string, others: readonly string[] = []): Promise<string[]> {
  const versions = [from, to, ...others];
  const entries = versions.map((version, i) => ({
    name: `p.v${version}`,
    ...(i > 0 ? { replaces: `p.v${versions[i - 1]}` } : {}),
  }));
  const { packages } = await catalogFrom({ p: { versions, channels: { a: entries } } });
  const ofPackage = packages.get('p');
  const [target, source] = [`p.v${to}`, `p.v${from}`].map((name) => ofPackage?.bundles.get(name));
  return ofPackage && target && source ? higherVersions(ofPackage, target, source) : [];
}

test.each([
  ['1.0.1-1', '1.0.1', [], ['1.0.2', '1.0.1+1']],
  // What is there already is not proposed, and neither is what would be above its own successor.
  ['1.0.1-1', '1.0.1', ['1.0.2'], ['1.0.1+1']],
  ['1.0.0-rc10', '1.0.0-rc9', [], ['1.0.0-rc9.1', '1.0.1']],
  ['1.0.0-rc10', '1.0.0-rc9', ['1.0.0'], ['1.0.0-rc9.1']],
  ['1.0.0+1', '1.0.0+2', [], ['1.0.1', '1.0.0+2.1']],
])('%s in place of what follows %s, with %j: %j', async (to, from, others, expected) => {
  expect(await proposed(to, from, others)).toEqual(expected);
});
