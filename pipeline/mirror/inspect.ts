/** Looking before copying: what the source has, what stands at the destination. */
import type { Reference } from '../../catalog/reference.ts';
import { openSource, type Source } from '../oci/registry/open.ts';
import { type ImageContent, readImage } from '../oci/registry/push.ts';
import type { CopyJob } from './copy-jobs.ts';
import type { CopyRun } from './copy-run.ts';
import { untilSound } from './until-sound.ts';

/** An image that was looked at. */
export interface Inspected {
  readonly job: CopyJob;
  readonly source: Pick<Source, 'registry' | 'reference'>;
  readonly digest: string;
  /** What is to be copied; undefined when the destination names this very image. */
  readonly content: ImageContent | undefined;
  /** Nothing is in the destination's repository yet. */
  readonly isNew: boolean;
}

/** @throws PipelineError what source and destination answer */
export async function inspectCopy(job: CopyJob, run: CopyRun): Promise<Inspected> {
  const { to, from, memory } = run.ports;
  const source = await openSource(
    job.from
      ? { kind: 'registry', reference: job.from }
      : { kind: 'oci', path: job.source.slice('oci://'.length) },
    from,
  );
  const listed = await run.destinations.of(job.to);
  const isNew = listed?.size === 0 && !memory.isContinued;
  const mayStand = job.to.kind === 'digest' || listed === undefined || listed.has(job.to.tag);
  const standing = mayStand && !isNew ? await to.resolve(job.to) : undefined;
  if (standing && (await digestOf(source)) === standing.digest)
    return { job, source, digest: standing.digest, content: undefined, isNew };
  const content = await untilSound(() => readImage(source.registry, source.reference));
  return { job, source, digest: content.root.digest, content, isNew };
}

async function digestOf({ registry, reference }: Inspected['source']): Promise<string | undefined> {
  return reference.kind === 'digest' ? reference.digest : (await registry.resolve(reference))?.digest;
}

/** A reference in another repository. */
export function moved(reference: Reference, { registry, repository }: Reference): Reference {
  return { ...reference, registry, repository };
}
