/**
 * The registry API of OLM v0 over gRPC, with health and reflection beside it, as `opm serve`
 * offers them.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { fromJSON, loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { type Answers, NoAnswer } from '../../../catalog/opm/serve/answers.ts';
import type { ApiKind } from '../../../catalog/opm/serve/bundle.ts';
import { BadQuestion } from '../../../catalog/opm/serve/custom-schemas.ts';
import { PipelineError } from '../../error.ts';
import { EXPERIMENTAL, HEALTH, REGISTRY, servedApis } from './definition.ts';
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
  server.addService(serviceIn(apis, EXPERIMENTAL), {
    ExperimentalListPackageCustomSchemas: stream(({ schema = '', packageName = '' }, isAcknowledged) =>
      isAcknowledged ? answers.listPackageCustomSchemas(schema, packageName) : [],
    ),
  });
  // Whoever is answered is answered by a catalog that was read. `Watch` is not offered, as in opm.
  server.addService(serviceIn(apis, HEALTH), { Check: unary(() => ({ status: 'SERVING' })) });
  new ReflectionService({ ...withImports(apis), ...reflectionApis() }).addToServer(server);
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

/** The reflection services themselves, which clients find listed where opm serves. */
function reflectionApis(): PackageDefinition {
  const library = createRequire(import.meta.url).resolve('@grpc/reflection');
  const files = ['v1', 'v1alpha'].map((version) => `../proto/grpc/reflection/${version}/reflection.proto`);
  return Object.assign({}, ...files.map((file) => loadSync(join(dirname(library), file), OPTIONS)));
}

/** File of the registry API, and the one with the messages of protobuf that it uses, as the library names them. */
const API_FILE = 'api.proto';
const STRUCT_FILE = 'google_protobuf.proto';
/** Tag of a file's imports: field 3, a text. */
const IMPORT = 0x1a;

/** The descriptions for reflection. The library leaves out what a file imports, and clients then do not find it. */
function withImports(apis: PackageDefinition): PackageDefinition {
  const imported = Buffer.concat([Buffer.from([IMPORT, STRUCT_FILE.length]), Buffer.from(STRUCT_FILE)]);
  const described = Object.entries(apis).map(([name, definition]): [string, object] => {
    const { fileDescriptorProtos } = definition as Partial<DescribedMessage>;
    if (!fileDescriptorProtos) return [name, definition];
    const files = fileDescriptorProtos.map((file) =>
      isNamed(file, API_FILE) ? Buffer.concat([file, imported]) : file,
    );
    return [name, { ...definition, fileDescriptorProtos: files }];
  });
  return Object.fromEntries(described) as PackageDefinition;
}

/** A message or enum, with the files that describe it. */
interface DescribedMessage {
  readonly fileDescriptorProtos: readonly Buffer[];
}

/** Whether a described file, which begins with its name, has this one. */
function isNamed(file: Buffer, name: string): boolean {
  return file[1] === name.length && file.toString('latin1', 2, 2 + name.length) === name;
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

/** What a client sends that knows that a method may change; without it, opm answers with an empty stream. */
const ACKNOWLEDGED = 'x-acknowledge-experimental';

type StreamedAnswers = (request: Request, isAcknowledged: boolean) => Iterable<object>;

function stream(answers: StreamedAnswers): handleServerStreamingCall<Request, object> {
  return (call) => {
    send(call, answers).then(
      () => call.end(),
      (error: unknown) => call.emit('error', failure(error)),
    );
  };
}

/** Messages as fast as they are taken: a catalog may be larger than what a slow reader lets wait. */
async function send(call: ServerWritableStream<Request, object>, answers: StreamedAnswers): Promise<void> {
  const isAcknowledged = call.metadata.get(ACKNOWLEDGED)[0] === 'true';
  for (const message of answers(call.request, isAcknowledged)) {
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

/** opm gives nearly every failure the code that says nothing. */
function failure(error: unknown): { code: number; details: string } {
  if (error instanceof BadQuestion) return { code: status.INVALID_ARGUMENT, details: error.message };
  const details = error instanceof NoAnswer ? error.message : 'cannot read the catalog';
  return { code: error instanceof NoAnswer ? status.UNKNOWN : status.INTERNAL, details };
}
