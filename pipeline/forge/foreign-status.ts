/** A `portolan` status that another account set: anyone who may write statuses can. */
import type { GateForge, SetStatus } from './forge.ts';

/** How often Portolan replaces foreign statuses of a commit. After that it stops competing with the other account. */
const MOST = 10;

/**
 * Whether somebody else has set the newest status of a commit to something else than Portolan did. Where it is not known who
 * set it, or where that happens again and again, it stays.
 *
 * @throws PipelineError as the forge
 */
export async function isForeign(
  forge: Pick<GateForge, 'readStatuses' | 'readSelf'>,
  commit: string,
): Promise<boolean> {
  const [newest, ...older] = await forge.readStatuses(commit);
  const self = await forge.readSelf?.();
  if (!newest || self === undefined || newest.by === self) return false;
  const own = older.find(({ by }) => by === self);
  return own?.state !== newest.state && changesBy(self, older) < MOST;
}

/** How often one that somebody else set was followed by an own one. */
function changesBy(self: number, newestFirst: readonly SetStatus[]): number {
  return newestFirst.filter(({ by }, i) => by === self && (newestFirst[i + 1]?.by ?? self) !== self).length;
}
