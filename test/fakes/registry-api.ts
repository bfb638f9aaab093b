/** A client of the registry API, as OLM's package server is one. */
import {
  type Client,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { servedApis } from '../../pipeline/catalogs/serve/definition.ts';

/** What came back, in the form in which answers are recorded; what is empty is left out. */
export type Answer =
  | { readonly answer: unknown }
  | { readonly stream: readonly unknown[] }
  | { readonly error: string };

export interface RegistryApi {
  /** Asks a method of a service, `api.Registry` when none is named. */
  ask(
    method: string,
    request: object,
    service?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  close(): void;
}

type Call = Client & Record<string, (request: object, ...rest: unknown[]) => AsyncIterable<unknown>>;

export function registryApi(port: number): RegistryApi {
  const loaded = loadPackageDefinition(fromJSON(servedApis(), { keepCase: true, enums: String }));
  const clients = new Map<string, Call>();
  const clientOf = (service: string): Call => {
    const known = clients.get(service);
    if (known) return known;
    // biome-ignore lint/suspicious/noExplicitAny: constructors that the library makes from names
    const Service = service.split('.').reduce((at: any, name) => at[name], loaded);
    const fresh: Call = new Service(`127.0.0.1:${port}`, credentials.createInsecure());
    clients.set(service, fresh);
    return fresh;
  };
  return {
    ask: async (method, request, service = 'api.Registry', headers = {}) => {
      const sent = Metadata.fromHttp2Headers(headers);
      const client = clientOf(service);
      try {
        if (client[method] && isStream(client[method])) {
          const stream: unknown[] = [];
          for await (const message of client[method](request, sent)) stream.push(message);
          return { stream };
        }
        const answer = await new Promise((resolve, reject) => {
          client[method]?.(request, (error: ServiceError | null, value: unknown) =>
            error ? reject(error) : resolve(value),
          );
        });
        return { answer };
      } catch (error) {
        const { code, details } = error as ServiceError;
        const name = (status[code] ?? '').toLowerCase();
        return {
          error: `rpc error: code = ${name.charAt(0).toUpperCase()}${name.slice(1)} desc = ${details}`,
        };
      }
    },
    close: () => {
      for (const client of clients.values()) client.close();
    },
  };
}

function isStream(method: unknown): boolean {
  return Object(method).responseStream === true;
}
