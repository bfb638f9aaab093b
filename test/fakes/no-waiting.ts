/** Pauses between tries that take no time. How long they are is tested with a clock of its own. */
import { onTestFinished, vi } from 'vitest';
import { systemClock } from '../../pipeline/oci/registry/http/retry.ts';

/** Until the test ends, whoever uses the machine's clock does not wait for another try. */
export function withoutWaiting(): void {
  const sleep = vi.spyOn(systemClock, 'sleep').mockResolvedValue(undefined);
  onTestFinished(() => sleep.mockRestore());
}
