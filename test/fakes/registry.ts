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
