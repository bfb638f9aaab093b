/** The fleet of a check: that of the command line, or the one that the policy of the base branch names. */

import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import type { FleetReport } from '../../../catalog/olm/fleet/count.ts';
import type { Fleet } from '../../../catalog/olm/fleet/fleet.ts';
import { tryParseReference } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Registry } from '../../ports.ts';
import { type FleetFile, readFleet } from './read-fleet.ts';

/** A fleet, or why it could not be read; neither where nobody named one. */
interface CheckFleet {
  readonly fleet?: Fleet;
  readonly why?: string;
}

/** What the merge does to a fleet, or why that is not known; neither where there is none. */
export interface FleetResult {
  readonly report?: FleetReport;
  readonly why?: string;
}

export interface FleetRequest {
  readonly objects: ObjectReader;
  /** Tree of the base branch: a pull request does not choose the fleet that it is checked with. */
  readonly base: string;
  readonly policy: Policy;
  readonly registry: Registry | undefined;
  /** The command line's fleet. */
  readonly given: Fleet | undefined;
}

/** Most bytes of a file, or of all layers of an artifact. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * The fleet that a check looks at: the given one, or that of the policy's files.
 *
 * @returns `why` if it cannot be read; neither if there is none
 */
export async function checkFleet({ given, ...request }: FleetRequest): Promise<CheckFleet> {
  const { files } = request.policy.fleet;
  if (given) return { fleet: given };
  if (files.length === 0) return {};
  try {
    const read: FleetFile[] = [];
    for (const path of files) {
      if (path.startsWith('oci://')) read.push(...(await artifactFiles(path, request.registry)));
      else read.push(await fileAt(path, request));
    }
    return { fleet: wholeFleet(read) };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    // What was found in a file may be the name of a cluster, which no report has.
    return { why: error.message.replace(/: found .*$/s, '') };
  }
}

/**
 * The fleet of files that are all that anybody reads.
 *
 * @throws PipelineError `usage` for a fleet that may be larger than its rows say
 */
function wholeFleet(files: readonly FleetFile[]): Fleet {
  const { fleet, bad } = readFleet(files);
  const uncounted = bad.find((row) => row.uncounted);
  // What stands there instead is not repeated: it may be a name.
  if (uncounted)
    throw new PipelineError('usage', `${uncounted.place}: the count is not a whole number of clusters`);
  // Such as an export that failed: nobody would be affected by anything.
  if (fleet.unread === 0 && fleet.rows.every(({ count }) => count === 0))
    throw new PipelineError('usage', `the fleet of ${files.map(({ path }) => path).join(', ')} is empty`);
  return fleet;
}

/** A file of the fleet, from the base branch: a pull request must not change whom it is checked against. */
async function fileAt(
  path: string,
  { objects, base }: Pick<FleetRequest, 'objects' | 'base'>,
): Promise<FleetFile> {
  const entry = await entryAt(objects, base, path);
  if (!entry) throw new PipelineError('not-found', `${path} is not on the base branch`);
  const unreadable = whyUnreadable(entry.mode);
  if (unreadable !== undefined)
    throw new PipelineError('usage', `${path} is ${unreadable}, expected a regular file`);
  const { bytes } = await objects.read(entry.id, MOST_BYTES);
  return { path, text: new TextDecoder().decode(bytes) };
}

/** The layers of an artifact, as `oras push` makes them: a file each. */
async function artifactFiles(text: string, registry: Registry | undefined): Promise<FleetFile[]> {
  if (!registry) throw new PipelineError('not-allowed', `cannot read ${text}: registries are not contacted`);
  const reference = tryParseReference(text.slice('oci://'.length));
  if (reference?.kind !== 'digest') throw new PipelineError('usage', `${text} is not an artifact by digest`);
  const manifest = await registry.getManifest(reference);
  if (!manifest) throw new PipelineError('not-found', `${text} not found`);
  const value = parsedJson(manifest.bytes);
  const listed = isObject(value) && Array.isArray(value['layers']) ? value['layers'] : [];
  const layers = listed.flatMap(layerOf);
  if (listed.length === 0) throw new PipelineError('usage', `${text} has no files`);
  // A fleet without some of its files would be smaller than it is.
  if (layers.length < listed.length)
    throw new PipelineError('usage', `${text} has a layer without a valid digest and size`);
  if (layers.reduce((sum, { size }) => sum + size, 0) > MOST_BYTES)
    throw new PipelineError('too-large', `${text} has more than ${MOST_BYTES} bytes`);
  const files: FleetFile[] = [];
  for (const [i, layer] of layers.entries()) {
    const parts: Uint8Array[] = [];
    for await (const part of registry.getBlob(reference, layer)) parts.push(part);
    files.push({ path: `${text} layer ${i + 1}`, text: Buffer.concat(parts).toString('utf8') });
  }
  return files;
}

/** A layer of a manifest, which a registry may have filled with anything; none without a digest and a size. */
function layerOf(layer: unknown): { digest: string; size: number }[] {
  if (!isObject(layer)) return [];
  const { digest, size } = layer;
  const isSize = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
  return typeof digest === 'string' && isSize ? [{ digest, size }] : [];
}
