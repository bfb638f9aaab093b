/**
 * The registry API of OLM v0 over gRPC, with health and reflection beside it, as `opm serve`
 * offers them.
 */
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { fromJSON, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { type Answers, NoAnswer } from '../../../catalog/opm/serve/answers.ts';
import type { ApiKind } from '../../../catalog/opm/serve/bundle.ts';
import { PipelineError } from '../../error.ts';
import { HEALTH, REGISTRY, servedApis } from './definition.ts';
import type { Listening } from './listening.ts';

/** What a request may hold; fields that are not sent are empty. */
type Request = Readonly<Record<string, string>>;

const OPTIONS = { keepCase: true, defaults: true, longs: String, enums: String } as const;

/**
 * Serves a catalog's answers until it is closed.
 *
 * @throws PipelineError `io` when the address cannot be listened on
 */
export async function serveGrpc(
  answers: Answers,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const apis = fromJSON(servedApis(), OPTIONS);
  const server = new Server();
  server.addService(serviceIn(apis, REGISTRY), handlers(answers));
  // Whoever is answered is answered by a catalog that was read. `Watch` is not offered, as in opm.
  server.addService(serviceIn(apis, HEALTH), { Check: unary(() => ({ status: 'SERVING' })) });
  new ReflectionService(apis).addToServer(server);
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (cause, at) =>
      cause
        ? reject(new PipelineError('io', `cannot listen on ${address}: ${cause.message}`, { cause }))
        : resolve(at),
    );
  });
  return {
    port: bound,
    close: () =>
      new Promise((resolve) => {
        // Calls that are under way may end by themselves, but not go on for ever.
        const impatient = setTimeout(() => server.forceShutdown(), GRACE);
        server.tryShutdown(() => {
          clearTimeout(impatient);
          resolve();
        });
      }),
  };
}

function serviceIn(apis: PackageDefinition, name: string): ServiceDefinition {
  const service = apis[name];
  if (!service || 'format' in service) throw new TypeError(`${name} is not a service`);
  return service;
}

/** Milliseconds that calls have to end when the server is closed. */
const GRACE = 2000;

function handlers(answers: Answers): UntypedServiceImplementation {
  return {
    ListPackages: stream(() => answers.listPackages()),
    GetPackage: unary(({ name = '' }) => answers.getPackage(name)),
    GetBundle: unary(({ pkgName = '', channelName = '', csvName = '' }) =>
      answers.getBundle(pkgName, channelName, csvName),
    ),
    GetBundleForChannel: unary(({ pkgName = '', channelName = '' }) =>
      answers.getBundleForChannel(pkgName, channelName),
    ),
    GetChannelEntriesThatReplace: stream(({ csvName = '' }) => answers.getChannelEntriesThatReplace(csvName)),
    GetBundleThatReplaces: unary(({ csvName = '', pkgName = '', channelName = '' }) =>
      answers.getBundleThatReplaces(csvName, pkgName, channelName),
    ),
    GetChannelEntriesThatProvide: stream((request) => answers.getChannelEntriesThatProvide(kindOf(request))),
    GetLatestChannelEntriesThatProvide: stream((request) =>
      answers.getLatestChannelEntriesThatProvide(kindOf(request)),
    ),
    GetDefaultBundleThatProvides: unary((request) => answers.getDefaultBundleThatProvides(kindOf(request))),
    ListBundles: stream(() => answers.listBundles()),
  };
}

function kindOf({ group = '', version = '', kind = '' }: Request): ApiKind {
  return { group, version, kind };
}

function unary(answer: (request: Request) => object): handleUnaryCall<Request, object> {
  return (call, done) => {
    try {
      done(null, answer(call.request));
    } catch (error) {
      done(failure(error));
    }
  };
}

function stream(answers: (request: Request) => Iterable<object>): handleServerStreamingCall<Request, object> {
  return (call) => {
    send(call, answers).then(
      () => call.end(),
      (error: unknown) => call.emit('error', failure(error)),
    );
  };
}

/** Messages as fast as they are taken: a catalog may be larger than what a slow reader lets wait. */
async function send(
  call: ServerWritableStream<Request, object>,
  answers: (request: Request) => Iterable<object>,
): Promise<void> {
  for (const message of answers(call.request)) {
    if (call.cancelled) return;
    if (call.write(message)) continue;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        call.off('drain', goOn);
        call.off('cancelled', goOn);
        resolve();
      };
      call.on('drain', goOn);
      call.on('cancelled', goOn);
    });
  }
}

/** opm gives every failure the code that says nothing. */
function failure(error: unknown): { code: number; details: string } {
  const details = error instanceof NoAnswer ? error.message : 'cannot read the catalog';
  return { code: error instanceof NoAnswer ? status.UNKNOWN : status.INTERNAL, details };
}
