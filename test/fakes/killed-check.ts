/** A pull request whose check kills the process that reads it, in the gate of a host. */
import { expect, onTestFinished } from 'vitest';
import { handleGate } from '../../functions/gate.ts';
import { confinedCheck } from '../../pipeline/check/confined/confined-check.ts';
import { readerFile } from './built.ts';
import { catalogOf } from './gate.ts';
import { gateRequest } from './gate-request.ts';
import { openHub } from './hub.ts';

/** @returns what handles a message about it; its status says why there is no result */
export async function killedCheck(): Promise<() => Promise<void>> {
  const hub = await openHub();
  const file = readerFile("process.on('message', () => process.abort());");
  onTestFinished(() => hub.close());
  const request = gateRequest(hub);
  const check = confinedCheck({ file, words: [], seconds: 60, memory: 1024, log: request.log });
  const { number } = hub.open({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']) });
  return async () => {
    await handleGate(number, { ...request, check });
    const status = hub.forge.statuses.at(-1);
    expect(status).toMatchObject({ state: 'pending' });
    expect(JSON.stringify(status)).toContain('its process ended with SIGABRT');
  };
}
