/**
 * Helm repositories: an `index.yaml` with the addresses of packed charts, or a registry that has charts as artifacts.
 *
 * @see https://helm.sh/docs/topics/chart_repository/
 * @see https://helm.sh/docs/topics/registries/
 */
import { createHash } from 'node:crypto';
import { FAILSAFE_SCHEMA, load } from 'js-yaml';
import { isObject } from '../../../catalog/go/shape.ts';
import type { ChartRepository, ChartSelection } from '../../../catalog/mirror/helm/chart-selection.ts';
import { type Reference, tryParseReference } from '../../../catalog/reference.ts';
import { meets, parseVersionConstraint } from '../../../catalog/version/constraint.ts';
import {
  compareVersions,
  parseTolerant,
  type Version,
  VersionError,
} from '../../../catalog/version/version.ts';
import { PipelineError } from '../../error.ts';
import { parseManifest } from '../../oci/registry/image.ts';
import type { Registry } from '../../ports.ts';
import { LARGEST_ARCHIVE } from './chart-files.ts';

export interface RepositoryPorts {
  /** The bytes behind a URL, of which there may be only so many; of a media type, if one is asked for. */
  readonly download: (url: URL, what: string, limit: number, type?: string) => Promise<Uint8Array>;
  readonly registry: Registry;
}

/** A chart of a repository, not fetched yet. */
export interface RemoteChart {
  readonly name: string;
  readonly version: string;
  /** Its address, for messages. */
  readonly url: string;
  /** The artifact, if the chart is one: it is mirrored too. */
  readonly artifact?: string;
  /** @throws PipelineError `corrupt` for other bytes than the repository promises */
  readonly fetch: () => Promise<Uint8Array>;
}

/** Bytes of an index at most; the largest public ones have about 20 MB. */
const LARGEST_INDEX = 64 * 2 ** 20;
/** Versions of all charts of an index at most; the largest public ones have some 20,000. */
const MOST_ENTRIES = 500_000;

/**
 * The charts that a selection means.
 *
 * @throws PipelineError `usage` for a chart or version that the repository does not have, and as its ports
 */
export async function chartsIn(
  repository: ChartRepository,
  selection: Pick<ChartSelection, 'name' | 'version'>,
  ports: RepositoryPorts,
): Promise<RemoteChart[]> {
  if (repository.url.startsWith('oci://')) return [await artifactOf(repository, selection, ports.registry)];
  const base = new URL(repository.url.endsWith('/') ? repository.url : `${repository.url}/`);
  const bytes = await ports.download(new URL('index.yaml', base), `the index of ${base.href}`, LARGEST_INDEX);
  const entries = entriesIn(new TextDecoder().decode(bytes), base);
  const remote = (entry: Entry): RemoteChart => remoteChart(entry, base, ports);
  if (selection.name === '') {
    const all = [...entries.values()].flat();
    // Whoever takes a repository whole expects something in it.
    if (all.length === 0) throw absent(`${base.href} has no charts`);
    return all.filter(({ type }) => type !== 'library').map(remote);
  }
  const versions = entries.get(selection.name) ?? [];
  if (versions.length === 0) throw absent(`${base.href} has no chart ${JSON.stringify(selection.name)}`);
  const chosen = choose(versions, selection.version);
  if (!chosen)
    throw absent(
      `${base.href} has no version ${selection.version ?? ''} of chart ${JSON.stringify(selection.name)}`,
    );
  return [remote(chosen)];
}

/** The error for what a repository does not have. */
function absent(message: string): PipelineError {
  return new PipelineError('not-found', message);
}

interface Entry {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly url: string;
  /** SHA-256 in hexadecimal digits; empty where the index has none. */
  readonly digest: string;
}

/** The versions of each chart in a repository's index. */
function entriesIn(text: string, base: URL): Map<string, Entry[]> {
  let index: unknown;
  try {
    // A version such as 1.10 is text.
    index = load(text, { schema: FAILSAFE_SCHEMA });
  } catch (cause) {
    throw new PipelineError('bad-answer', `the index of ${base.href} is not valid YAML`, { cause });
  }
  const entries = isObject(index) && isObject(index['entries']) ? index['entries'] : undefined;
  if (!entries) throw new PipelineError('bad-answer', `the index of ${base.href} has no entries`);
  const listed = Object.entries(entries).map(([name, versions]): [string, unknown[]] => [
    name,
    Array.isArray(versions) ? versions : [],
  ]);
  // One list may stand for many by an alias.
  if (listed.reduce((sum, [, versions]) => sum + versions.length, 0) > MOST_ENTRIES)
    throw new PipelineError('too-large', `the index of ${base.href} has more than ${MOST_ENTRIES} entries`);
  return new Map(listed.map(([name, versions]) => [name, versions.flatMap((one) => entryOf(name, one))]));
}

/** A version of a chart in the index; none for an entry without a version or an address. */
function entryOf(name: string, value: unknown): Entry[] {
  if (!isObject(value)) return [];
  const { version, type, urls, digest } = value;
  const url: unknown = Array.isArray(urls) ? urls[0] : undefined;
  if (typeof version !== 'string' || typeof url !== 'string') return [];
  const hex = typeof digest === 'string' ? digest.replace(/^sha256:/, '') : '';
  return [{ name, version, type: typeof type === 'string' ? type : '', url, digest: hex }];
}

/** A chart that a repository's index names. It is fetched later, and its digest checked. */
function remoteChart({ name, version, url, digest }: Entry, base: URL, ports: RepositoryPorts): RemoteChart {
  return {
    name,
    version,
    url: `${base.href} ${name} ${version}`,
    fetch: async () => {
      if (url.startsWith('oci://')) {
        const at = artifactReference(url.slice('oci://'.length));
        return artifactBytes(at, ports.registry);
      }
      if (!URL.canParse(url, base.href))
        throw absent(`${base.href} has no valid address for ${name} ${version}`);
      const what = `chart ${name} ${version}`;
      const bytes = await ports.download(new URL(url, base), what, LARGEST_ARCHIVE);
      const found = createHash('sha256').update(bytes).digest('hex');
      if (digest !== '' && digest !== found)
        throw new PipelineError(
          'corrupt',
          `digest mismatch of ${what}: expected sha256:${digest}, got sha256:${found}`,
        );
      return bytes;
    },
  };
}

/**
 * The exact version, or else the newest that meets the range. A pre-release counts only where the range names
 * one.
 */
function choose<T extends { readonly version: string }>(all: readonly T[], selector = '*'): T | undefined {
  const exact = all.find(({ version }) => version === selector);
  if (exact) return exact;
  const range = orUndefined(() => parseVersionConstraint(selector));
  if (!range) return undefined;
  let best: { readonly one: T; readonly version: Version } | undefined;
  for (const one of all) {
    const version = orUndefined(() => parseTolerant(one.version));
    if (!version || !meets(version, range)) continue;
    if (!best || compareVersions(version, best.version) > 0) best = { one, version };
  }
  return best?.one;
}

/** A parsed version or range; undefined for a text that is neither. */
function orUndefined<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}

/** A chart in an OCI registry: the version that was asked for, or the newest. */
async function artifactOf(
  { url }: ChartRepository,
  { name, version }: Pick<ChartSelection, 'name' | 'version'>,
  registry: Registry,
): Promise<RemoteChart> {
  const repository = `${url.slice('oci://'.length).replace(/\/+$/, '')}/${name}`;
  const at = artifactReference(repository);
  const tags: { version: string }[] = [];
  // A tag has no plus sign.
  for await (const tag of registry.listTags(at)) tags.push({ version: tag.replaceAll('_', '+') });
  const chosen = choose(tags, version);
  if (!chosen)
    throw absent(
      `${url} has no ${version === undefined ? '' : `version ${version} of `}chart ${JSON.stringify(name)}`,
    );
  const artifact = `${repository}:${chosen.version.replaceAll('+', '_')}`;
  return {
    name,
    version: chosen.version,
    url: `oci://${artifact}`,
    artifact,
    fetch: async () => artifactBytes(artifactReference(artifact), registry),
  };
}

/** The reference of a chart in a registry. @throws PipelineError `usage` */
function artifactReference(text: string): Reference {
  const reference = tryParseReference(text);
  if (reference) return reference;
  throw new PipelineError('usage', `oci://${text} is not a valid address of a chart`);
}

/** Media type of the layer with the packed chart, as helm pushes it. */
const CHART_LAYER = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';

/** The packed chart in an OCI artifact. */
async function artifactBytes(at: Reference, registry: Registry): Promise<Uint8Array> {
  const manifest = await registry.getManifest(at);
  const name = `${at.registry}/${at.repository}`;
  if (!manifest) throw absent(`${name} has no such chart`);
  const parts = parseManifest(manifest);
  const layer =
    'layers' in parts ? parts.layers.find(({ mediaType }) => mediaType === CHART_LAYER) : undefined;
  if (!layer) throw new PipelineError('usage', `${name} is not a Helm chart`);
  if (layer.size > LARGEST_ARCHIVE)
    throw new PipelineError('too-large', `the chart ${name} is larger than 32 MiB`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of registry.getBlob(at, layer)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
