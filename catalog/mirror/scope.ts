/**
 * From placements to mirror entries: which repositories a node is to ask elsewhere, said
 * by repository, by namespace or by registry.
 *
 * Of several entries a node uses only the one that matches most of a name, and an entry
 * for tags hides an entry for digests of a wider scope. So both kinds are written at one
 * scope, and an entry that would be hidden is repeated where it is hidden.
 *
 * @see https://github.com/openshift/runtime-utils/blob/master/pkg/registries/registries.go
 */
import { compareText } from '../go/text.ts';
import { destinationRepository, type Placement, wantedRepository } from './placement.ts';

export type Scope = 'repository' | 'namespace' | 'registry';

/** Locations that a node asks before, or instead of, a source. */
export interface MirrorEntry {
  /** `host[:port][/path]`. */
  readonly source: string;
  readonly mirrors: readonly string[];
}

interface MirrorEntries {
  /** For references by digest. */
  readonly digest: readonly MirrorEntry[];
  /** For references by tag. */
  readonly tag: readonly MirrorEntry[];
}

type Kind = keyof MirrorEntries;

/**
 * The entries by which a node finds every placement.
 *
 * Where the scope would lead astray, because a repository is not kept under its own path,
 * the repository gets an entry of its own.
 *
 * @param part only the entries that these need; scopes are chosen for all placements together
 */
export function mirrorEntries(
  placements: readonly Placement[],
  scope: Scope,
  part: readonly Placement[] = placements,
): MirrorEntries {
  const mirrors = new Map<string, Set<string>>();
  const scopes = new Map<string, string>();
  for (const [repository, { destinations }] of repositoriesOf(placements)) {
    const { source, targets } = scopeOf(repository, destinations, scope);
    scopes.set(repository, source);
    addAll(mirrors, source, targets);
  }
  const entries: Record<Kind, Map<string, readonly string[]>> = { digest: new Map(), tag: new Map() };
  for (const [repository, { kinds }] of repositoriesOf(part)) {
    // Another repository's scope may lie nearer than its own.
    for (const source of [scopes.get(repository) ?? repository, longestScope(repository, mirrors)]) {
      const targets = [...(mirrors.get(source) ?? [])].sort(compareText);
      for (const kind of kinds) entries[kind].set(source, targets);
    }
  }
  return { digest: sorted(entries.digest), tag: sorted(entries.tag) };
}

interface Repository {
  /** Where it is kept: in one place, unless somebody asked for a second. */
  readonly destinations: Set<string>;
  /** How its images are asked for. */
  readonly kinds: Set<Kind>;
}

/** The repositories of placements, by the names that nodes ask for. */
function repositoriesOf(placements: readonly Placement[]): Map<string, Repository> {
  const repositories = new Map<string, Repository>();
  for (const placement of placements) {
    const name = wantedRepository(placement);
    const known = repositories.get(name) ?? { destinations: new Set(), kinds: new Set() };
    repositories.set(name, known);
    known.destinations.add(destinationRepository(placement.destination));
    for (const kind of kindsOf(placement)) known.kinds.add(kind);
  }
  return repositories;
}

function addAll(to: Map<string, Set<string>>, key: string, values: Iterable<string>): void {
  const known = to.get(key) ?? new Set();
  for (const value of values) known.add(value);
  to.set(key, known);
}

/** A reference with a tag and a digest is asked for by digest; by other programs by tag. */
function kindsOf({ wanted }: Placement): readonly Kind[] {
  if (wanted.kind === 'tag') return ['tag'];
  return wanted.tag === undefined ? ['digest'] : ['digest', 'tag'];
}

interface Scoped {
  readonly source: string;
  readonly targets: readonly string[];
}

/**
 * The scope and the mirrors of an entry for a repository. It is the repository alone if what is beside it in the mirror
 * could not be found under a wider one.
 */
function scopeOf(repository: string, destinations: ReadonlySet<string>, scope: Scope): Scoped {
  const source = sourceAtScope(repository, scope);
  const targets = [...destinations];
  // Only a copy under the whole path of its source shows where the neighbors are.
  const path = repository.slice(repository.indexOf('/'));
  const rest = repository.slice(source.length);
  if (rest === '' || !targets.every((target) => target.endsWith(path)))
    return { source: repository, targets };
  return { source, targets: targets.map((target) => target.slice(0, -rest.length)) };
}

/** The repository, its namespace or its registry. */
function sourceAtScope(repository: string, scope: Scope): string {
  if (scope === 'repository') return repository;
  const slash = scope === 'registry' ? repository.indexOf('/') : repository.lastIndexOf('/');
  return slash < 0 ? repository : repository.slice(0, slash);
}

/** The scope that a node would use: the longest of those around the repository. */
function longestScope(repository: string, scopes: { has(scope: string): boolean }): string {
  let scope = repository;
  while (!scopes.has(scope) && scope.includes('/')) scope = scope.slice(0, scope.lastIndexOf('/'));
  return scope;
}

function sorted(entries: ReadonlyMap<string, readonly string[]>): MirrorEntry[] {
  return [...entries]
    .map(([source, mirrors]) => ({ source, mirrors }))
    .sort((a, b) => compareText(a.source, b.source));
}
