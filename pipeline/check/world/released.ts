/** What was released of the catalogs of which the policy says where that stands. */
import type { PublishedBundle } from '../../../catalog/olm/foresight/world.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { entryAt } from '../../git/tree.ts';
import type { Store } from '../../oci/image/build-cache.ts';
import type { Policy, ReleasedSources } from '../../policy/policy.ts';
import { releasedImage, releasedOf } from '../../policy/released.ts';
import type { Registry } from '../../ports.ts';
import { readLedger } from './ledger.ts';
import type { Published } from './published.ts';
import { type ReleasedPackages, releasedPackages } from './released-image.ts';

interface ReleasedRequest {
  /** Id of the base branch's tip. */
  readonly base: string;
  readonly policy: Policy;
  /** Names of catalogs. */
  readonly catalogs: readonly string[];
  /** Names of the packages in question. */
  readonly packages: ReadonlySet<string>;
  /** Without it no image is read. */
  readonly registry?: Registry | undefined;
  readonly store?: Store | undefined;
}

interface ReleasedCatalogs {
  /** Everything that clusters may have of these catalogs. */
  readonly published: Published;
  /** What could not be read: everything that the branch has counts as published there. */
  readonly unread: readonly { readonly what: string; readonly why: string }[];
}

/** Reads what was released, place by place: only one image is in memory at a time. */
export async function releasedCatalogs(
  objects: ObjectReader,
  request: ReleasedRequest,
): Promise<ReleasedCatalogs> {
  const published = new Map<string, ReleasedPackages>();
  const unread: { what: string; why: string }[] = [];
  const read = reader(objects, request);
  for (const catalog of request.catalogs) {
    const by = releasedOf(request.policy.graph, catalog);
    if (by === 'branch') continue;
    try {
      published.set(catalog, by === 'nothing' ? new Map() : await releasedBy(by, catalog, read));
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      const what = `the published content of ${catalog} (Portolan treats everything on the branch as published)`;
      unread.push({ what, why: error.message });
    }
  }
  return { published, unread };
}

/** Reads each place once. */
interface Reader {
  image(reference: string): Promise<ReleasedPackages>;
  ledger(path: string): Promise<Published>;
}

/**
 * What was released of a catalog: in its image, in a ledger, or both.
 *
 * @throws PipelineError if one of them does not have the catalog
 */
async function releasedBy(
  { image, ledger }: ReleasedSources,
  catalog: string,
  read: Reader,
): Promise<ReleasedPackages> {
  const parts: ReleasedPackages[] = [];
  if (image !== undefined) {
    const reference = releasedImage(image, catalog);
    if (reference === undefined)
      throw new PipelineError('usage', `the name of ${catalog} has no version for {minor}`);
    parts.push(await read.image(reference));
  }
  if (ledger !== undefined) {
    const lines = (await read.ledger(ledger)).get(catalog);
    // A ledger that calls the catalog otherwise would let everything pass.
    if (!lines) throw new PipelineError('not-found', `the ledger ${ledger} has no line for ${catalog}`);
    parts.push(lines);
  }
  const names = new Set(parts.flatMap((part) => [...part.keys()]));
  return new Map(
    [...names].map((name) => [
      name,
      parts.flatMap((part): readonly PublishedBundle[] => part.get(name) ?? []),
    ]),
  );
}

/** Reads images and ledgers, each once. */
function reader(
  objects: ObjectReader,
  { base, policy: { limits }, registry, store, packages }: ReleasedRequest,
): Reader {
  return {
    image: readOnce((reference) => {
      if (!registry) throw new PipelineError('not-allowed', 'registries are not contacted');
      return releasedPackages(reference, { registry, store, packages });
    }),
    ledger: readOnce(async (path) => {
      const file = await entryAt(objects, base, path);
      if (!file) throw new PipelineError('not-found', `the ledger ${path} does not exist yet`);
      return readLedger((await objects.read(file.id, limits.fileBytes)).bytes.toString('utf8'), path);
    }),
  };
}

/** Reads each place once, also where that fails: several catalogs may have their releases in one image or ledger. */
function readOnce<T>(read: (place: string) => Promise<T>): (place: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (place) => {
    const found = known.get(place) ?? Promise.resolve().then(() => read(place));
    known.set(place, found);
    return found;
  };
}
