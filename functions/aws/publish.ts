/** One catalog published or retired, its rings looked at, or a branch's bundles released, called by the state machine. */

import { PipelineError } from '../../pipeline/error.ts';
import { handleBundles } from '../../pipeline/publish/delivery/bundles.ts';
import { handleCatalog } from '../../pipeline/publish/delivery/catalog.ts';
import { readWork } from '../../pipeline/publish/delivery/message.ts';
import { handleRetire } from '../../pipeline/publish/delivery/retire.ts';
import { handleRings } from '../../pipeline/publish/delivery/rings.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { portsOf } from './ports.ts';
import { bucketMemory } from './store.ts';

const telemetry = telemetryOf('publish');
const ports = portsOf(settings(), telemetry);
const store = bucketMemory(ports.records);

/**
 * Publishes at once, for whoever may invoke the function.
 *
 * @param event a message for one catalog, for its retirement or its rings, or for bundles
 * @returns what became of it: `published`, `superseded`, `refused`, `retired`, `released`, `looked`, or `done` when it
 *   was before
 */
export async function handler(event: unknown): Promise<{ catalog: string; state: string }> {
  const work = readWork(JSON.stringify(event));
  if (work.kind === 'retire') {
    const isRetired = await handleRetire(work, ports);
    return { catalog: work.catalog, state: isRetired ? 'retired' : 'done' };
  }
  if (work.kind === 'bundles') {
    await handleBundles(work, ports);
    return { catalog: '', state: 'released' };
  }
  if (work.kind === 'rings') {
    await handleRings(work, ports);
    return { catalog: work.catalog, state: 'looked' };
  }
  if (work.kind !== 'catalog') throw new PipelineError('usage', 'the message does not name a catalog');
  const published = await handleCatalog(work, ports, { store });
  return { catalog: work.catalog, state: published?.kind ?? 'done' };
}
