/** A client of OLM v0's registry API: what a cluster's package server would hear. */
import { credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { PipelineError } from '../../error.ts';
import { servedApis } from './definition.ts';

/** How long an answer may take, in ms. */
const TIMEOUT = 30_000;

interface Stream extends AsyncIterable<{ readonly name: string }> {}

interface Client {
  ListPackages(request: object, options: { readonly deadline: number }): Stream;
  close(): void;
}

/**
 * Names of the packages that a server on this machine has.
 *
 * @throws PipelineError `bad-answer` when it does not answer
 */
export async function listPackages(port: number): Promise<string[]> {
  const loaded = loadPackageDefinition(fromJSON(servedApis(), { keepCase: true })) as unknown as {
    api: { Registry: new (address: string, security: unknown) => Client };
  };
  const client = new loaded.api.Registry(`127.0.0.1:${port}`, credentials.createInsecure());
  try {
    const names: string[] = [];
    for await (const { name } of client.ListPackages({}, { deadline: Date.now() + TIMEOUT }))
      names.push(name);
    return names;
  } catch (error) {
    const { details } = error as ServiceError;
    throw new PipelineError('bad-answer', `the catalog that was built does not respond: ${details}`, {
      cause: error,
    });
  } finally {
    client.close();
  }
}
