/** Parts of what rules look at beyond the files that a merge touches. */
import type { Mutation } from './mutation.ts';

const PLATFORMS = 'test/oracle/platforms.test.ts';
const WORLD = 'pipeline/check/world/world.ts';

/** Each with what remains without it. */
const PARTS: readonly (Omit<Mutation, 'attack' | 'test'> & Partial<Pick<Mutation, 'test'>>)[] = [
  {
    without: 'the catalogs of the next platform versions',
    file: WORLD,
    text: 'following: await Promise.all(following.map((next) => followingWorld(next.name, next[when], shared))),',
    instead: 'following: [],',
  },
  {
    without: 'the catalogs of the previous platform versions',
    file: WORLD,
    text: 'preceding: await Promise.all(preceding.map((other) => precedingWorld(other, when, shared))),',
    instead: 'preceding: [],',
  },
  {
    without: 'comparing untouched catalogs',
    file: 'pipeline/check/findings.ts',
    text: '...others.neighbors.map((catalog) => checkNeighbors(catalog, world)),',
    instead: '',
  },
  {
    without: 'the even platform version after the next one',
    file: 'catalog/rules/platform-losses.ts',
    text: 'from.minor % 2 === 0 &&',
    instead: 'from.minor < 0 &&',
  },
  {
    without: 'what the branch once had',
    file: WORLD,
    text: 'releasedIn(name, shared) : { published }),\n  };',
    instead: 'releasedIn(name, shared) : {}),\n  };',
  },
  {
    without: 'the manifests of what the branch once had',
    file: 'pipeline/check/world/read-world.ts',
    text: 'return bundle ? { ...one, bundle } : one;',
    instead: 'return one;',
  },
  {
    without: 'packages that the merge does not touch',
    file: WORLD,
    text: 'joinedCatalog([states[when], context[when]])',
    instead: 'joinedCatalog([states[when]])',
  },
  {
    without: 'neighbors in a namespace',
    file: 'catalog/olm/foresight/neighbors.ts',
    text: 'if (neighborsOf(scope, place.package).length === 0) return [];',
    instead: 'if (neighborsOf(scope, place.package).length >= 0) return [];',
  },
  {
    without: 'sets that are published for OLM v1',
    file: WORLD,
    text: '{ installSets: world.installSets[when] }',
    instead: '{}',
    test: 'test/pipeline/check/world/install-sets.test.ts',
  },
  {
    without: 'sets that cannot be read',
    file: 'pipeline/check/world/read-world.ts',
    text: 'companions.incomplete ?? sets.incomplete',
    instead: 'companions.incomplete',
    test: 'test/pipeline/check/world/install-sets.test.ts',
  },
  {
    without: 'what other catalogs have under a name',
    file: WORLD,
    text: '{ publications: publications[when] }',
    instead: '{}',
  },
  {
    without: 'the packages of the catalog before a new one',
    file: WORLD,
    text: 'predecessors,\n    rebuildsHeads:',
    instead: 'rebuildsHeads:',
  },
  {
    without: 'the catalog from which clusters pass the one before a new one',
    file: 'pipeline/check/world/catalogs.ts',
    text: '.before(name, 2)',
    instead: '.before(name, 1)',
    test: PLATFORMS,
  },
  {
    without: 'manifests that only another catalog has',
    file: 'catalog/rules/new-upgrades.ts',
    text: '(whole ?? own)?.bundle',
    instead: 'own?.bundle',
    test: PLATFORMS,
  },
  {
    without: 'where clusters had a package that is new in a catalog',
    file: 'catalog/olm/foresight/world.ts',
    text: 'before.preceding.find(hasIt) ?? before',
    instead: 'before',
  },
  {
    without: 'findings of the catalog before a new one',
    file: 'pipeline/check/content/catalog-rules.ts',
    text: ', ...copiedFrom(change, findingsIn)',
    instead: '',
  },
  {
    without: 'the other catalogs of the clusters',
    file: WORLD,
    text: '...(companions ? { companions } : {}),',
    instead: '',
  },
  {
    without: 'folders of another name in untouched catalogs',
    file: 'pipeline/check/world/other-catalogs.ts',
    text: 'return [...likely, ...mentioning];',
    instead: 'return likely;',
  },
  {
    without: 'the folder that a package was moved from',
    file: 'pipeline/check/world/old-versions.ts',
    text: 'const MOST_MOVES = 3;',
    instead: 'const MOST_MOVES = 0;',
  },
  {
    without: 'what clusters bring from other catalogs',
    file: 'catalog/olm/foresight/installation.ts',
    text: 'if (brought.length === 0) return own;',
    instead: 'if (brought.length >= 0) return own;',
  },
  {
    without: 'what was a head where clusters come from',
    file: 'catalog/olm/foresight/installation.ts',
    text: 'if (wereHeads.has(installationKey({ channel, installed }))) return true;',
    instead: '',
  },
  {
    without: 'subscriptions that name no channel',
    file: 'catalog/olm/foresight/installation-change.ts',
    text: 'return [...open, ...all]',
    instead: "return [...(olm === 'v1' ? open : []), ...all]",
  },
];

export const VIEW_MUTATIONS: readonly Mutation[] = PARTS.map((part) => ({
  ...part,
  attack: 59,
  test: part.test ?? 'test/oracle/views.test.ts',
}));
