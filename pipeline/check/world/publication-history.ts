/** The past of what a pull request touches, as the policy says that it is to be looked up. */
import type { Repository } from '../../git/repository.ts';
import { entryAt } from '../../git/tree.ts';
import type { Store } from '../../oci/image/build-cache.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Registry } from '../../ports.ts';
import { readLedger } from './ledger.ts';
import type { CatalogPath, OldVersions } from './old-versions.ts';
import {
  type KeptVersions,
  type Published,
  type PublishedHistory,
  publishedBefore,
  publishedIn,
  type Since,
} from './published.ts';
import { releasedCatalogs } from './released.ts';
import type { TouchedCatalog } from './touched-catalog.ts';

/** Says which versions files had, where the clone has no history that says it. */
export type HistoryOf = (places: readonly CatalogPath[]) => Promise<OldVersions>;

export interface PastRequest {
  /** Id of the base branch's tip. */
  readonly base: string;
  readonly policy: Policy;
  readonly touched: readonly Pick<TouchedCatalog, 'names' | 'packages' | 'places'>[];
  readonly historyOf?: HistoryOf | undefined;
  /** What was read for another pull request of the repository. */
  readonly kept?: KeptVersions | undefined;
  /** For released images; without it they are not read. */
  readonly registry?: Registry | undefined;
  /** Keeps what released images have. */
  readonly store?: Store | undefined;
  /** What the absence of any is called. */
  readonly what?: string;
}

interface Past {
  readonly published: Published;
  readonly since: Since;
  /** Catalogs of which clusters may have nothing else. */
  readonly released: ReadonlySet<string>;
  /** What could not be looked at. */
  readonly unread: readonly { readonly what: string; readonly why: string }[];
}

/**
 * What was ever published in the touched catalogs.
 *
 * @throws PipelineError `usage` for a ledger of `graph.published` that cannot be read
 */
export async function pastOf(repository: Repository, request: PastRequest): Promise<Past> {
  const catalogs = [...new Set(request.touched.flatMap(({ names }) => names))];
  const packages = new Set(request.touched.flatMap((catalog) => [...catalog.packages]));
  const { published: released, unread } = await releasedCatalogs(repository.objects, {
    ...request,
    catalogs,
    packages,
  });
  // What was released is all that clusters may have: the branch's history adds nothing to it.
  const places = request.touched
    .flatMap((catalog) => catalog.places)
    .filter(({ catalog }) => !released.has(catalog));
  const isNeeded = catalogs.some((name) => !released.has(name));
  const history = isNeeded ? await historyIn(repository, request, places) : NO_HISTORY;
  const { published, since = new Map(), incomplete: why } = history;
  return {
    published: new Map([...published, ...released]),
    since,
    released: new Set(released.keys()),
    unread: [
      ...(why === undefined ? [] : [{ what: request.what ?? 'earlier published versions', why }]),
      ...unread,
    ],
  };
}

/** Two readings of the past together; what the second says of a package of a catalog counts. */
export function joinedPast<T>(
  first: ReadonlyMap<string, ReadonlyMap<string, T>>,
  second: ReadonlyMap<string, ReadonlyMap<string, T>>,
): ReadonlyMap<string, ReadonlyMap<string, T>> {
  const names = new Set([...first.keys(), ...second.keys()]);
  return new Map(
    [...names].map((name) => [name, new Map([...(first.get(name) ?? []), ...(second.get(name) ?? [])])]),
  );
}

const NO_HISTORY: PublishedHistory = { published: new Map(), incomplete: undefined };

/** What the branch's history, or the ledger in its place, says of catalogs. */
async function historyIn(
  repository: Repository,
  { base, policy, historyOf, kept }: PastRequest,
  places: readonly CatalogPath[],
): Promise<PublishedHistory> {
  const { published } = policy.graph;
  if (published === 'git') {
    const { limits } = policy;
    if (historyOf) return publishedIn(repository.objects, await historyOf(places), { places, limits, kept });
    return publishedBefore(repository, base, { places, limits, kept });
  }
  const { objects } = repository;
  const file = await entryAt(objects, await objects.treeOf(base), published.ledger);
  if (!file) return { published: new Map(), incomplete: `the ledger ${published.ledger} does not exist yet` };
  const { bytes } = await objects.read(file.id, policy.limits.fileBytes);
  return { published: readLedger(bytes.toString('utf8'), published.ledger), incomplete: undefined };
}
