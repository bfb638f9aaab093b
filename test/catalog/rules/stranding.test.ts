/** The hints for stranded installations: a small edit first, then the edges of suggest-graph, then advice. */
import { expect, test } from 'vitest';
import { worldOf } from '../../../catalog/olm/foresight/world.ts';
import { AS_TODAY } from '../../../catalog/olm/suggest/policy.ts';
import { suggestGraph } from '../../../catalog/olm/suggest/suggestion.ts';
import { rules } from '../../../catalog/rules/graph/stranded.ts';
import { catalogFrom, PACKAGE, type WrittenEntry } from '../olm/universe.ts';

const rule = rules.find(({ id }) => id === 'graph/stranded-v0');

async function world(entries: readonly WrittenEntry[]) {
  const versions = entries.map(({ name }) => name.slice(3)).sort();
  return worldOf({
    name: 'cat',
    catalog: await catalogFrom({ [PACKAGE]: { versions, channels: { a: entries } } }),
  });
}

async function hints(...entries: readonly WrittenEntry[]): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  rule?.checkWorld?.(await world(entries), (_message, _location, details) => found.push(details?.hint));
  return found;
}

const OWN: WrittenEntry = { name: 'p.v1.0.0', replaces: 'p.v1.0.0' };
/** No small edit: the head must not lead anybody down, as it does with what it skips. */
const DOWN: WrittenEntry[] = [
  { name: 'p.v1.1.0', skips: ['p.v2.0.0'], skipRange: '<0.2.0' },
  { name: 'p.v2.0.0' },
  OWN,
];
const COMMAND = 'portolan suggest-graph --package p --keep all --diff DIR';

test('without a small edit the hint is the command whose edges give all of them an upgrade path', async () => {
  expect(await hints(...DOWN)).toEqual([`write the edges that this prints: ${COMMAND}`]);
  const of = await world(DOWN);
  const ofPackage = of.catalog.packages.get(PACKAGE);
  if (!ofPackage) throw new Error('the package is missing');
  const { stranded, dropped } = suggestGraph(of, ofPackage, { ...AS_TODAY, keep: 'all' });
  const names = (all: typeof stranded.today): string[] => all.map(({ installed }) => installed.name);
  expect(names(stranded.today)).toContain('p.v1.0.0');
  expect(names(stranded.suggested)).not.toContain('p.v1.0.0');
  expect(dropped).toEqual([]);
});

test('a small edit comes first', async () => {
  expect(await hints({ name: 'p.v1.2.0' }, OWN)).toEqual(['in the entry of p.v1.2.0 set skips: [p.v1.0.0]']);
});

test('nobody stranded: no hint', async () => {
  expect(await hints({ name: 'p.v1.2.0', replaces: 'p.v1.0.0' }, { name: 'p.v1.0.0' })).toEqual([]);
});
