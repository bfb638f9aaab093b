/** A message of the queue handled, whatever it asks for. */
import { PipelineError } from '../../error.ts';
import { handleBundles } from './bundles.ts';
import { type CatalogOptions, handleCatalog } from './catalog.ts';
import { readWork } from './message.ts';
import type { DeliveryPorts } from './ports.ts';
import { handlePush } from './push.ts';
import { handleRetire } from './retire.ts';
import { handleRing } from './ring.ts';
import { handleRings } from './rings.ts';

/**
 * @throws PipelineError: the queue delivers the message again, and puts it aside when that does not help
 */
export async function handleMessage(
  body: string,
  ports: DeliveryPorts,
  options: CatalogOptions = {},
): Promise<void> {
  const work = readWork(body);
  if (work.kind === 'push') await handlePush(work, ports);
  else if (work.kind === 'bundles') await handleBundles(work, ports);
  else if (work.kind === 'catalog') await handleCatalog(work, ports, options);
  else if (work.kind === 'retire') await handleRetire(work, ports);
  else if (work.kind === 'rings') await handleRings(work, ports);
  else if (work.kind === 'ring') await handleRing(work, ports);
  else if (ports.gate) await ports.gate(work);
  else throw new PipelineError('usage', 'pull requests are not checked here: no GitHub App is configured');
}
