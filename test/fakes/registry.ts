/** The embedded registry, started for a test. */
import { onTestFinished } from 'vitest';
import {
  type RegistryOptions,
  type RunningRegistry,
  type SeenRequest,
  startRegistry,
} from '../../pipeline/oci/registry/embedded/server.ts';
import { folder } from './folder.ts';

export interface TestRegistry extends RunningRegistry {
  readonly directory: string;
  readonly seen: SeenRequest[];
}

export async function registry(options: Partial<RegistryOptions> = {}): Promise<TestRegistry> {
  const directory = options.directory ?? folder();
  const seen: SeenRequest[] = [];
  const running = await startRegistry({ directory, onRequest: (request) => seen.push(request), ...options });
  onTestFinished(running.close);
  return { ...running, directory, seen };
}

/** A clock by which a token of the registry ends after a number of requests, whatever the machine's time is. */
export function tokensEndAfter(requests: number): () => number {
  let at = 0;
  return () => (at += 300_000 / requests);
}
