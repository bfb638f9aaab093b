/** Histories and merges for the oracle: lists of edits, so that whatever breaks a law can be made smaller. */
import fc from 'fast-check';
import { FIRST_CRD } from './custom-resources.ts';
import { ADDING_KINDS, chosen, EDIT_KINDS, EDITS, type EditKind, offeredTo, placeOf } from './edits.ts';
import {
  byVersion,
  type Catalog,
  isValid,
  minorOf,
  type Package,
  PROVIDER,
  type State,
  versionsOf,
} from './repository-state.ts';

/** Edits of whole packages and catalogs. */
const WIDE_KINDS = [
  'remove package',
  'bring package',
  'add catalog',
  'remove catalog',
  'rename catalog',
] as const;

/** An edit of one package, in one catalog or in all of them, or of a catalog; numbers choose among what is there. */
export interface Edit {
  readonly kind: EditKind | (typeof WIDE_KINDS)[number];
  readonly catalog: number;
  readonly package: number;
  readonly channel: number;
  readonly entry: number;
  readonly everywhere: boolean;
}

/** A repository's past, and the merge that is judged. */
export interface Story {
  readonly catalogs: number;
  /** The minor version of the first catalog's platform. */
  readonly platform: number;
  readonly packages: number;
  readonly channels: number;
  readonly hasCrds: boolean;
  readonly merges: readonly (readonly Edit[])[];
  readonly merge: readonly Edit[];
}

const number = fc.nat({ max: 5 });

function edits(kinds: readonly Edit['kind'][], minLength: number, maxLength: number): fc.Arbitrary<Edit[]> {
  const edit = fc.record({
    kind: fc.constantFrom(...kinds),
    catalog: number,
    package: number,
    channel: number,
    entry: number,
    everywhere: fc.boolean(),
  });
  return fc.array(edit, { minLength, maxLength });
}

const ALL_KINDS = [...EDIT_KINDS, ...WIDE_KINDS];

/** Stories whose merge changes something. */
export const story: fc.Arbitrary<Story> = fc
  .record({
    catalogs: fc.integer({ min: 1, max: 3 }),
    platform: fc.constantFrom(19, 18),
    packages: fc.integer({ min: 1, max: 2 }),
    channels: fc.integer({ min: 1, max: 2 }),
    hasCrds: fc.boolean(),
    merges: fc
      .tuple(edits(ADDING_KINDS, 1, 5), fc.array(edits(ALL_KINDS, 1, 3), { minLength: 1, maxLength: 3 }))
      .map(([first, others]) => [first, ...others]),
    merge: edits(ALL_KINDS, 1, 2),
  })
  .filter((one) => {
    const [after, before] = statesOf(one).reverse();
    return JSON.stringify(after) !== JSON.stringify(before);
  });

/** The states of a story: all of the base branch, and last that after the merge. */
export function statesOf({ catalogs, platform, packages, merges, merge, ...one }: Story): State[] {
  const names = Array.from({ length: catalogs }, (_, i) => `v4.${platform + i}`);
  const first: Catalog = Object.fromEntries(
    ['pa', PROVIDER].slice(0, packages).map((name) => [name, newPackage(one)]),
  );
  const states: State[] = [Object.fromEntries(names.map((name) => [name, first]))];
  for (const its of [...merges, merge]) {
    const past = [...states];
    states.push(its.reduce((state, edit) => applied(state, edit, past), states.at(-1) ?? {}));
  }
  return states;
}

function newPackage({ channels, hasCrds }: Pick<Story, 'channels' | 'hasCrds'>): Package {
  const names = ['fast', 'stable'].slice(-channels);
  return {
    defaultChannel: names.at(-1) ?? '',
    channels: Object.fromEntries(names.map((channel) => [channel, [{ version: '1.0.0' }]])),
    rebuilt: [],
    deprecated: [],
    requires: {},
    ...(hasCrds ? { crds: { '1.0.0': FIRST_CRD } } : {}),
  };
}

/** The state after an edit; where opm would not accept the result, the state as it was. */
function applied(state: State, edit: Edit, past: readonly State[]): State {
  const names = Object.keys(state);
  const [oldest] = names;
  const newest = names.at(-1);
  if (oldest === undefined || newest === undefined) return state;
  const { [newest]: last = {}, ...others } = state;
  const next = `v4.${minorOf(newest) + 1}`;
  const { [oldest]: _, ...rest } = state;
  switch (edit.kind) {
    case 'add catalog':
      return { ...state, [next]: varied(last, edit) };
    case 'remove catalog':
      return names.length > 1 ? rest : state;
    case 'rename catalog':
      return { ...others, [next]: last };
    default: {
      const chosenOnes = edit.everywhere ? names : [chosen(names, edit.catalog) ?? ''];
      return chosenOnes.reduce((now, name) => appliedIn(now, name, edit, [...past, state]), state);
    }
  }
}

/** A copy of a catalog that may lack a package, a channel, a head or what is oldest. */
function varied(catalog: Catalog, edit: Edit): Catalog {
  const kinds = ['remove package', 'remove channel', 'withdraw head', 'prune tail'] as const;
  const { [edit.entry - 2]: kind } = kinds;
  return kind === undefined
    ? catalog
    : (appliedIn({ copy: catalog }, 'copy', { ...edit, kind }, [])['copy'] ?? {});
}

function appliedIn(state: State, catalog: string, edit: Edit, past: readonly State[]): State {
  const packages = state[catalog] ?? {};
  if (edit.kind === 'bring package') return withBrought(state, catalog, edit);
  const name = chosen(Object.keys(packages), edit.package);
  const before = name === undefined ? undefined : packages[name];
  if (name === undefined || !before) return state;
  const { [name]: _, ...rest } = packages;
  if (edit.kind === 'remove package') return { ...state, [catalog]: rest };
  const { kind } = edit;
  if (kind === 'add catalog' || kind === 'remove catalog' || kind === 'rename catalog') return state;
  const all = past.flatMap((one) => Object.entries(one));
  const knownIn = (some: readonly (readonly [string, Catalog])[]): Package[] =>
    some.flatMap(([, { [name]: one }]) => (one ? [one] : []));
  const known = knownIn(all);
  const place = placeOf(before, {
    ...{ name, known, channel: edit.channel, entry: edit.entry, platform: catalog.slice(1) },
    all: everOf(known),
    here: everOf(knownIn(all.filter(([of]) => of === catalog))),
    offered: offeredTo(name, packages),
  });
  const edited = place && EDITS[kind](before, place);
  const after = edited && likeOthers(edited, before, knownIn(Object.entries(state)));
  return after && isValid(after) ? { ...state, [catalog]: { ...packages, [name]: after } } : state;
}

/** With what other catalogs have in the versions that an edit adds: pipelines publish one bundle to all of them. */
function likeOthers(after: Package, before: Package, others: readonly Package[]): Package {
  const sources = new Map(
    versionsOf(after)
      .filter((version) => !versionsOf(before).includes(version))
      .map((version) => [version, others.find((other) => versionsOf(other).includes(version))]),
  );
  const withSources = <T>(
    own: Readonly<Record<string, T>>,
    of: (one: Package) => Package['crds' | 'requires'],
  ) =>
    Object.fromEntries([
      ...Object.entries(own).filter(([version]) => !sources.get(version)),
      ...[...sources].flatMap(([version, source]) => {
        const value = source && of(source)?.[version];
        return value === undefined ? [] : [[version, value]];
      }),
    ]) as Record<string, T>;
  return {
    ...after,
    requires: withSources(after.requires, ({ requires }) => requires),
    ...(after.crds ? { crds: withSources(after.crds, ({ crds }) => crds) } : {}),
  };
}

function everOf(packages: readonly Package[]): string[] {
  return [...new Set(packages.flatMap(versionsOf))].sort(byVersion);
}

/** With a package of another catalog, as it is there or with less. */
function withBrought(state: State, catalog: string, edit: Edit): State {
  const here = state[catalog] ?? {};
  const missing = Object.entries(state).flatMap(([, packages]) =>
    Object.entries(packages).filter(([name]) => here[name] === undefined),
  );
  const brought = chosen(missing, edit.package);
  if (!brought) return state;
  return { ...state, [catalog]: { ...here, ...varied(Object.fromEntries([brought]), edit) } };
}
