/** The states that a package had in a catalog, one for each merge that changed it. */
import { type Catalog, catalogOf, NO_BLOBS } from '../../../catalog/fbc/model.ts';
import { type World, worldOf } from '../../../catalog/olm/foresight/world.ts';
import { type BlobReader, commitCatalogs } from '../../change/commit-catalogs.ts';
import { fileReader, keptFiles } from '../../change/content.ts';
import { catalogUnits } from '../../change/unit.ts';
import { type MergedCommit, mergedCommits } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import { OutOfTime, type TimeLimit } from '../rehearsal/time-limit.ts';
import { endedVersions } from '../world/old-versions.ts';

/** The state of a package from one merge until the next one that changed it. */
export interface PackageState {
  /** Undefined for what the branch began with. */
  readonly merge: MergedCommit | undefined;
  /** Id of a commit with this state. */
  readonly commit: string;
  /** The catalog, with the packages that were asked for. @throws OutOfTime */
  readonly world: () => Promise<World>;
}

interface StateQuestion {
  readonly catalog: string;
  readonly package: string;
}

const NOTHING: Catalog = catalogOf(NO_BLOBS);

export interface History {
  /** Names of the catalogs that the branch has or had, those of the tip first. */
  readonly catalogs: readonly string[];
  /** The latest first; the first one is that of the tip. */
  readonly statesOf: (question: StateQuestion) => readonly PackageState[];
}

/** Stands for all packages of a path: a file may hold several. */
const ANY = '*';

/** A merge with the packages that it changed, by catalog. */
interface PackageMerge {
  readonly merge: MergedCommit;
  readonly packages: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Reads which merges of a branch changed what. */
export async function packageHistory(
  repository: Repository,
  tip: string,
  { policy, limit }: { readonly policy: Policy; readonly limit?: TimeLimit },
): Promise<History> {
  const merges = new Map((await mergedCommits(repository, tip, [])).map((merge) => [merge.id, merge]));
  const touching: PackageMerge[] = [];
  for (const { commit, versions, added, gone } of await endedVersions(repository, tip, [])) {
    const merge = merges.get(commit);
    const packages = touchedPackages([...versions.map(({ path }) => path), ...added, ...gone], policy);
    if (merge && packages.size > 0) touching.push({ merge, packages });
  }
  const units = await catalogUnits(repository.objects, tip, policy.layout);
  const here = [...units.values()].map(({ catalog }) => catalog);
  const shared = { tip, touching, policy, limit };
  // Of one package at a time: a fleet may have hundreds, each with many states.
  let current = '';
  const known = new Map<string, readonly PackageState[]>();
  const reader = fileReader(repository.objects, policy.limits, keptFiles());
  return {
    catalogs: [...new Set([...here, ...touching.flatMap((one) => [...one.packages.keys()])])].filter(
      (name) => name !== ANY,
    ),
    statesOf: (question) => {
      if (question.package !== current) known.clear();
      current = question.package;
      const states = known.get(question.catalog) ?? statesOf(repository, { ...shared, reader }, question);
      known.set(question.catalog, states);
      return states;
    },
  };
}

/** The packages in which paths change, by catalog; `ANY` stands for all packages, or all catalogs. */
function touchedPackages(paths: readonly string[], { layout }: Policy): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const path of paths) {
    const match = layout.match(path);
    const { kind, catalog, package: name = ANY } = match ?? {};
    let catalogs: readonly string[] = [];
    // A bundle directory counts for every catalog that is made from them.
    if (kind === 'bundle') catalogs = layout.composed?.names ?? [];
    else if (kind === 'catalog') catalogs = [catalog ?? ANY];
    for (const one of catalogs) found.set(one, (found.get(one) ?? new Set()).add(name));
  }
  return found;
}

interface StatesInput {
  readonly tip: string;
  /** The merges that changed any package, the latest first. */
  readonly touching: readonly PackageMerge[];
  readonly policy: Policy;
  readonly limit?: TimeLimit | undefined;
  readonly reader: BlobReader;
}

/**
 * The states of a package from the tip back, one for each merge that changed it. A state's world is read when it is asked
 * for.
 */
function statesOf(
  { objects }: Repository,
  { tip, touching, policy, limit, reader }: StatesInput,
  { catalog, package: name }: StateQuestion,
): PackageState[] {
  const merges = touching.filter(({ packages }) =>
    [packages.get(catalog), packages.get(ANY)].some((touched) => touched?.has(name) || touched?.has(ANY)),
  );
  const worldAt = async (commit: string): Promise<World> => {
    const [names, packages] = [new Set([catalog]), new Set([name])];
    const [read] = await commitCatalogs(objects, commit, { policy, reader, names, packages });
    return worldOf({ name: catalog, catalog: read?.catalog ?? NOTHING, packages });
  };
  const state = (merge: MergedCommit | undefined, commit: string): PackageState => {
    let world: Promise<World> | undefined;
    return {
      merge,
      commit,
      world: () => {
        if (limit?.isOver()) throw new OutOfTime();
        world ??= worldAt(commit);
        return world;
      },
    };
  };
  const oldest = merges.at(-1)?.merge.before ?? tip;
  return [...merges.map(({ merge }) => state(merge, merge.id)), state(undefined, oldest)];
}
