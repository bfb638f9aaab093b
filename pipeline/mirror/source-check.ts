/**
 * Whether images can be copied at all, asked before the first one is: whether each is there, and none is a Docker
 * schema 1 manifest, which registries and nodes no longer take.
 *
 * @see https://docs.docker.com/retired/#docker-image-format-v1-and-docker-image-manifest-version-2-schema-1
 */
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { type Reference, repositoryName, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { isSchema1 } from '../oci/registry/image.ts';
import { eachOf } from '../parallel.ts';
import type { Registry } from '../ports.ts';
import type { CopyJob } from './copy-jobs.ts';

/** Why an image cannot be copied. */
interface BadSource {
  readonly job: CopyJob;
  readonly why: string;
  readonly hint?: string;
}

/** Asks each source, so many at a time; in the order of the jobs. */
export async function checkSources(
  jobs: readonly CopyJob[],
  registry: Registry,
  parallel: number,
): Promise<BadSource[]> {
  const found = new Map<CopyJob, BadSource>();
  await eachOf(jobs, parallel, async (job) => {
    const bad = job.from && (await checkSource(job.from, registry));
    if (bad) found.set(job, { job, ...bad });
  });
  return jobs.flatMap((job) => found.get(job) ?? []);
}

async function checkSource(from: Reference, registry: Registry): Promise<Omit<BadSource, 'job'> | undefined> {
  try {
    const named = await registry.resolve(from);
    if (!named) return { why: 'does not exist' };
    if (!isSchema1(named.mediaType)) return undefined;
    const manifest = await registry.getManifest(withDigest(from, named.digest));
    const owner = (manifest && maintainerIn(manifest.bytes)) ?? `the owner of ${repositoryName(from)}`;
    return {
      why: 'is a Docker schema 1 manifest, which registries and nodes no longer accept',
      hint: `ask ${owner} to push the image again with a current tool, as schema 2 or OCI`,
    };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return { why: `cannot be checked: ${error.message}`, ...(error.hint && { hint: error.hint }) };
  }
}

/** The maintainer in a label of an image, or the author of its newest layer. */
function maintainerIn(bytes: Uint8Array): string | undefined {
  const manifest = parsed(new TextDecoder().decode(bytes));
  const history: unknown = isObject(manifest) ? manifest['history'] : undefined;
  // Schema 1 has the newest layer first, with its configuration as text.
  const [newest] = Array.isArray(history) ? history : [];
  const text: unknown = isObject(newest) ? newest['v1Compatibility'] : undefined;
  const image = typeof text === 'string' ? parsed(text) : undefined;
  if (!isObject(image)) return undefined;
  const config = isObject(image['config']) ? image['config'] : {};
  const labels = isObject(config['Labels']) ? config['Labels'] : {};
  const names = [labels['maintainer'], labels['vendor'], image['author']];
  return names.find((name): name is string => typeof name === 'string' && name !== '');
}

function parsed(text: string): unknown {
  return parsedJson(text);
}
