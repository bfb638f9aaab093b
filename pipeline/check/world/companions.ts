/**
 * The catalogs that clusters have beside those of the repository, as the policy lists them: index images by
 * reference, and catalogs by their path in the repository. Of an image only the outline is kept, by its digest.
 */
import { type Loaded, load } from '../../../catalog/fbc/load.ts';
import { type Blobs, type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import { OUTLINE } from '../../../catalog/olm/outline.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import { renderImage } from '../../catalogs/render/image.ts';
import type { Trees } from '../../change/classification-input.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { sourceFile, treeSource, whyUnreadable } from '../../git/source.ts';
import { entryAt, isTree, listFiles } from '../../git/tree.ts';
import type { Store } from '../../oci/image/build-cache.ts';
import type { Policy } from '../../policy/policy.ts';
import { releasedImage } from '../../policy/released.ts';
import type { Registry } from '../../ports.ts';
import type { CheckReport } from '../report.ts';
import { blobsUnlessBroken, derivedOnce, type ImagePorts } from './stored-image.ts';
import type { BeforeAndAfter } from './touched-catalog.ts';

interface CompanionsRequest {
  readonly objects: ObjectReader;
  readonly trees: Trees;
  readonly policy: Policy;
  /** Names of the catalogs whose companions are wanted. */
  readonly catalogs: readonly string[];
  /** Without it no image is read. */
  readonly registry?: Registry | undefined;
  /** Keeps the outlines of images, by their digests. */
  readonly store?: Store | undefined;
  /** What is read in place of the policy's companions, and what its absence means. */
  readonly instead?: {
    readonly texts: readonly string[];
    readonly what: (text: string, catalog: string) => string;
  };
}

export interface Companions {
  /** By name, for each catalog of which all companions could be read. */
  readonly of: ReadonlyMap<string, BeforeAndAfter<ReadonlyMap<string, Catalog>>>;
  readonly unchecked: CheckReport['unchecked'];
  /** Why it is not known, where a registry was asked and did not answer or a path does not exist. */
  readonly incomplete: string | undefined;
}

/** Reads the companions of catalogs, each of them once. */
export async function readCompanions(request: CompanionsRequest): Promise<Companions> {
  const { policy, catalogs, registry, instead } = request;
  const { texts: written, what: whatOf } = instead ?? { texts: policy.graph.companions, what: companionOf };
  const byCatalog = new Map<string, BeforeAndAfter<ReadonlyMap<string, Catalog>>>();
  const unchecked: { what: string; why: string }[] = [];
  let incomplete: string | undefined;
  if (written.length === 0) return { of: byCatalog, unchecked, incomplete };
  const read = companionReader(request);
  for (const name of catalogs) {
    const before = new Map<string, Catalog>();
    const after = new Map<string, Catalog>();
    for (const text of written) {
      try {
        const found = await read(text, name);
        before.set(text, found.before);
        after.set(text, found.after);
      } catch (error) {
        if (!(error instanceof PipelineError)) throw error;
        const what = whatOf(text, name);
        unchecked.push({ what, why: error.message });
        if (registry || isPath(text)) incomplete ??= `${what}: ${error.message}`;
      }
    }
    if (before.size === written.length) byCatalog.set(name, { before, after });
  }
  return { of: byCatalog, unchecked, incomplete };
}

function companionOf(text: string, name: string): string {
  return `the companion catalog ${text} of ${name} (Portolan assumes that it provides every dependency)`;
}

/** Whether a companion is a path in the repository: the host of an image's reference has a dot, or a port. */
export function isPath(text: string): boolean {
  const [first = ''] = text.split('/');
  return /^\.{1,2}$/.test(first) || !/[.:]|^localhost$/.test(first);
}

type ReadCompanion = (text: string, catalog: string) => Promise<BeforeAndAfter<Catalog>>;

/**
 * Reads another catalog of the same clusters, from a path or an image, each once.
 *
 * @returns it before and after the merge
 */
function companionReader({ objects, trees, policy, registry, store }: CompanionsRequest): ReadCompanion {
  const known = new Map<string, Promise<Catalog>>();
  const once = (key: string, make: () => Promise<Catalog>): Promise<Catalog> => {
    const found = known.get(key) ?? make();
    known.set(key, found);
    return found;
  };
  return async (text, catalog) => {
    const place = releasedImage(text, catalog);
    if (place === undefined)
      throw new PipelineError('usage', `the name of ${catalog} has no version for {minor}`);
    if (isPath(text)) {
      const at = async (tree: string): Promise<Catalog> => {
        const path = place.replace(/^\.\/|\/$/g, '');
        const entry = await entryAt(objects, tree, path);
        if (!entry) throw new PipelineError('not-found', `${path} is not in the repository`);
        return once(entry.id, () => catalogAt(objects, { ...entry, path }, policy));
      };
      return { before: await at(trees.base), after: await at(trees.merged) };
    }
    if (!registry) throw new PipelineError('not-allowed', 'registries are not contacted');
    const read = await once(place, () => catalogOfImage(place, { registry, store }));
    return { before: read, after: read };
  };
}

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly id: string;
}

/** The outline of the catalog in a tree. @throws PipelineError `too-large` beyond the policy's limit */
async function catalogAt(objects: ObjectReader, entry: Entry, { limits }: Policy): Promise<Catalog> {
  const files = isTree(entry.mode) ? await listFiles(objects, entry.id) : [entry];
  const plain = files.filter(({ mode }) => whyUnreadable(mode) === undefined);
  await objects.prefetch(plain.map(({ id }) => id));
  const sizes = await Promise.all(plain.map(async ({ id }) => (await objects.info(id))?.size ?? 0));
  if (sizes.reduce((sum, size) => sum + size, 0) > limits.contextBytes) {
    const why = `${entry.path} has more than the ${limits.contextBytes} bytes of limits.contextBytes`;
    throw new PipelineError('too-large', why);
  }
  const source: CatalogSource = isTree(entry.mode)
    ? treeSource(objects, entry.id)
    : { files: () => Promise.resolve([sourceFile(objects, entry)]) };
  return wholeCatalog(entry.path, await load(source, limits, OUTLINE));
}

/** The outline of the catalog in an index image, kept in the store by its digest. */
function catalogOfImage(text: string, ports: ImagePorts): Promise<Catalog> {
  const options = {
    directory: '/',
    registry: () => ports.registry,
    only: 'catalogs',
    each: OUTLINE,
  } as const;
  return derivedOnce(text, ports, {
    kind: 'outline',
    parse: async (bytes) => {
      const { blobs, findings } = await load(sourceOfBytes(bytes));
      // What was kept may be damaged: then the image is read again.
      const isDamaged = findings.some(({ severity }) => severity === 'error');
      return isDamaged || blobs.packages.length === 0 ? undefined : catalogOf(blobs);
    },
    format: ({ blobs }) => bytesOf(blobs),
    derive: async (name) => wholeCatalog(text, await renderImage(`docker://${name}`, options)),
  });
}

function wholeCatalog(name: string, loaded: Loaded): Catalog {
  return catalogOf(blobsUnlessBroken(name, loaded));
}

function sourceOfBytes(bytes: Uint8Array): CatalogSource {
  return { files: () => Promise.resolve([{ path: 'outline.json', read: () => bytes }]) };
}

/** An outline as a file-based catalog. Properties that an outline leaves out have no type, which no catalog may have. */
function bytesOf({ packages, channels, bundles }: Blobs): Uint8Array {
  const all = [
    ...packages.map(({ schema, name, defaultChannel }) => ({ schema, name, defaultChannel })),
    ...channels.map(({ schema, name, package: packageName, entries }) => ({
      schema,
      name,
      package: packageName,
      entries,
    })),
    ...bundles.map(({ schema, name, package: packageName, properties }) => ({
      schema,
      name,
      package: packageName,
      properties: properties.filter(({ type }) => type !== ''),
    })),
  ];
  return new TextEncoder().encode(all.map((blob) => `${JSON.stringify(blob)}\n`).join(''));
}
