/** ministack, which stands in for AWS. */
import { onTestFinished, vi } from 'vitest';
import { freePort, start } from './tools.ts';

export interface Ministack {
  readonly endpoint: string;
  readonly port: number;
}

/** Starts it for a test. @param environment of its own, beside its address */
export async function ministack(
  port: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ministack> {
  const endpoint = `http://127.0.0.1:${port}`;
  await start({
    program: 'ministack',
    parameters: [],
    environment: { BIND_HOST: '127.0.0.1', GATEWAY_PORT: String(port), ...environment },
    url: `${endpoint}/_ministack/health`,
  });
  return { endpoint, port };
}

/** Starts it, and has AWS's libraries ask it for as long as the test runs. */
export async function ministackForSdk(): Promise<Ministack> {
  const started = await ministack(await freePort());
  const settings = {
    AWS_ENDPOINT_URL: started.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return started;
}
