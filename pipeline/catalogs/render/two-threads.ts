/**
 * A catalog directory rendered by two threads. Each renders whole files into a file that both write to; names and
 * places of the blobs are enough to put them in order.
 */
import { type Blob, type ByKind, mapKinds } from '../../../catalog/fbc/model.ts';
import { type RenderFormat, renderOrder } from '../../../catalog/fbc/render.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareWalk } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import {
  halfLimits,
  inTwoThreads,
  joinedFindings,
  sharedTask,
  sourceOfShare,
  type Thread,
  type ThreadOptions,
  type ThreadTask,
} from '../two-threads.ts';
import { loadCatalog } from './load.ts';
import {
  openSharedFile,
  openSpool,
  pressOf,
  type SharedFile,
  type Slot,
  type Spool,
} from './ordered-spool.ts';

/** How a directory is rendered. */
interface RenderSettings {
  readonly format: RenderFormat;
  readonly migrates: boolean;
}

/** What both threads get. */
export type RenderTask = ThreadTask & RenderSettings & { readonly shared: SharedFile };

/** What one thread rendered of the files that it took. */
export interface RenderShare {
  readonly findings: readonly Finding[];
  readonly blobs: ByKind<Printed>;
}

/** What the order goes by, and where a blob lies. */
interface Printed extends Pick<Blob, 'schema' | 'package' | 'name'> {
  readonly file: string;
  readonly slot: Slot;
}

export interface RenderedDirectory {
  readonly findings: readonly Finding[];
  /** In opm's order. */
  readonly slots: readonly Slot[];
  readonly spool: Spool;
}

/**
 * Renders a directory that is large enough; undefined when one thread has to do it.
 *
 * @throws PipelineError `not-found` or `io`
 */
export async function renderInTwoThreads(
  root: string,
  how: RenderSettings,
  threads: ThreadOptions,
): Promise<RenderedDirectory | undefined> {
  const task = await sharedTask(root, threads, (path) => path);
  const shared = task && openSharedFile();
  if (!shared) return undefined;
  const spool = openSpool(0, shared);
  const render = (own: RenderTask, thread: Thread): Promise<RenderShare> => renderShare(own, spool, thread);
  const shares = await inTwoThreads(threads.program, { ...task, ...how, shared }, render);
  const joined = shares && joinedShares(...shares);
  if (joined) return { ...joined, spool };
  spool.close();
  return undefined;
}

/**
 * Renders the files of a catalog that no other thread has taken yet.
 *
 * @param thread the second one when left out
 * @throws PipelineError for what the format cannot hold; Error when files are not there any more
 */
export async function renderShare(
  task: RenderTask,
  spool: Spool = openSpool(0, task.shared),
  thread?: Thread,
): Promise<RenderShare> {
  const press = pressOf(task.format, spool);
  const source = await sourceOfShare(task, thread);
  const { blobs, findings } = await loadCatalog(
    source,
    { migrates: task.migrates, each: press.each },
    halfLimits(),
  );
  const printed = (blob: Blob): Printed => {
    const slot = press.slotOf(blob);
    if (slot instanceof PipelineError) throw slot;
    const { schema, package: packageName, name, document } = blob;
    return { schema, package: packageName, name, file: document.file, slot };
  };
  spool.flush();
  return { findings, blobs: mapKinds<Blob, Printed>(blobs, (list) => list.map(printed)) };
}

/** The work of two threads joined in opm's order; undefined if one thread alone could find something else. */
export function joinedShares(
  a: RenderShare,
  b: RenderShare,
): Pick<RenderedDirectory, 'findings' | 'slots'> | undefined {
  const findings = joinedFindings(a.findings, b.findings);
  // Each file is in one share. One thread reads them in this order.
  const blobs = mapKinds(a.blobs, (list, kind) =>
    [...list, ...b.blobs[kind]].sort((one, other) => compareWalk(one.file, other.file)),
  );
  return findings && { findings, slots: renderOrder(blobs).map(({ slot }) => slot) };
}
