/**
 * The registry API of OLM v0 over gRPC, with health and reflection beside it, as `opm serve`
 * offers them.
 */
import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http2';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import {
  fromJSON,
  loadSync,
  type MethodDefinition,
  type PackageDefinition,
  type ServiceDefinition,
} from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { type Answers, BadQuestion, NoAnswer } from '../../../catalog/opm/serve/answers.ts';
import type { ApiKind } from '../../../catalog/opm/serve/bundle.ts';
import type { Listening } from '../../server-limits.ts';
import { EXPERIMENTAL, HEALTH, REGISTRY, servedApis } from './definition.ts';
import { GrpcFailure, grpcFrame, KeptFrames, Status } from './grpc-messages.ts';
import { type GrpcMethod, type GrpcMethods, listenGrpc } from './grpc-server.ts';

/** What a request may hold; fields that are not sent are empty. */
type Request = Readonly<Record<string, string>>;

const OPTIONS = { keepCase: true, defaults: true, longs: String, enums: String } as const;

/**
 * Serves a catalog's answers until it is closed.
 *
 * @throws PipelineError `io` when the address cannot be listened on
 */
export function serveGrpc(
  answers: Answers,
  address: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const apis = fromJSON(servedApis(), OPTIONS);
  const methods = [
    ...methodsOf(serviceIn(apis, REGISTRY), registry(answers)),
    ...methodsOf(serviceIn(apis, EXPERIMENTAL), experimental(answers)),
    // Whoever is answered is answered by a catalog that was read. `Watch` is not offered, as in opm.
    ...methodsOf(serviceIn(apis, HEALTH), { Check: () => [{ status: 'SERVING' }] }),
    ...reflection({ ...withImports(apis), ...reflectionApis() }),
  ];
  return listenGrpc(new Map(methods), address);
}

/**
 * Methods that answer questions about the services themselves. The library adds its handlers to a server of grpc-js;
 * here an object collects them, and each is called with an emitter that behaves as a call.
 */
function reflection(described: PackageDefinition): GrpcMethods {
  const methods = new Map<string, GrpcMethod>();
  const collector: Pick<Server, 'addService'> = {
    addService: (service, handlers) => {
      for (const [name, definition] of Object.entries(service)) {
        const handler = handlers[name] as (call: EventEmitter) => void;
        methods.set(definition.path, {
          takesMany: true,
          answer: (message) => {
            const frames: Uint8Array[] = [];
            const write = (answer: object): void =>
              void frames.push(grpcFrame(definition.responseSerialize(answer)));
            const call = Object.assign(new EventEmitter(), { write });
            handler(call);
            call.emit('data', definition.requestDeserialize(Buffer.from(message)));
            return frames;
          },
        });
      }
    },
  };
  new ReflectionService(described).addToServer(collector);
  return methods;
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
/** Tag of a file's imports: field 3, a text. Its length follows, which fits into one byte for names of less than 128. */
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

/** Whether a described file has this name: it begins with a tag, the length of its name, and the name. */
function isNamed(file: Buffer, name: string): boolean {
  return file[1] === name.length && file.toString('latin1', 2, 2 + name.length) === name;
}

/** A service of a definition, which has its messages beside it under names of their own. */
function serviceIn(apis: PackageDefinition, name: string): ServiceDefinition {
  const service = apis[name];
  if (!service || 'format' in service) throw new TypeError(`${name} is not a service`);
  return service;
}

/** Gives the messages of an answer: one, or as many as a stream has. */
type Handler = (request: Request, headers: IncomingHttpHeaders) => Iterable<object>;

/** Methods of a service by path. */
function methodsOf(service: ServiceDefinition, handlers: Readonly<Record<string, Handler>>): GrpcMethods {
  const methods = new Map<string, GrpcMethod>();
  for (const [name, handler] of Object.entries(handlers)) {
    const definition = service[name];
    if (!definition) throw new TypeError(`${name} is not a method`);
    methods.set(definition.path, methodOf(definition, handler));
  }
  return methods;
}

/** A method that encodes and decodes messages around its handler. An answer that depends on nothing is encoded once. */
function methodOf(definition: MethodDefinition<object, object>, handler: Handler): GrpcMethod {
  const frames = function* (request: Request, headers: IncomingHttpHeaders): Generator<Uint8Array> {
    try {
      for (const message of handler(request, headers)) yield grpcFrame(definition.responseSerialize(message));
    } catch (error) {
      throw failure(error);
    }
  };
  // Without parameters the answer is always the same, so its frames are kept.
  if (handler.length === 0) {
    const kept = new KeptFrames(() => frames({}, {}));
    return { answer: () => kept };
  }
  return { answer: (message, headers) => frames(requestOf(definition, message), headers) };
}

/** The fields of a request. @throws GrpcFailure for bytes that are not the message of the method */
function requestOf(definition: MethodDefinition<object, object>, message: Buffer): Request {
  try {
    return definition.requestDeserialize(message) as Request;
  } catch {
    throw new GrpcFailure(Status.internal, 'the request is not the message of this method');
  }
}

/** Handlers of the registry API, by name. */
function registry(answers: Answers): Record<string, Handler> {
  return {
    ListPackages: () => answers.listPackages(),
    GetPackage: ({ name = '' }) => [answers.getPackage(name)],
    GetBundle: ({ pkgName = '', channelName = '', csvName = '' }) => [
      answers.getBundle(pkgName, channelName, csvName),
    ],
    GetBundleForChannel: ({ pkgName = '', channelName = '' }) => [
      answers.getBundleForChannel(pkgName, channelName),
    ],
    GetChannelEntriesThatReplace: ({ csvName = '' }) => answers.getChannelEntriesThatReplace(csvName),
    GetBundleThatReplaces: ({ csvName = '', pkgName = '', channelName = '' }) => [
      answers.getBundleThatReplaces(csvName, pkgName, channelName),
    ],
    GetChannelEntriesThatProvide: (request) => answers.getChannelEntriesThatProvide(kindOf(request)),
    GetLatestChannelEntriesThatProvide: (request) =>
      answers.getLatestChannelEntriesThatProvide(kindOf(request)),
    GetDefaultBundleThatProvides: (request) => [answers.getDefaultBundleThatProvides(kindOf(request))],
    ListBundles: () => answers.listBundles(),
  };
}

/** What a client sends that knows that a method may change; without it, opm answers with an empty stream. */
const ACKNOWLEDGED = 'x-acknowledge-experimental';

/** Handlers of the API that may change, by name. */
function experimental(answers: Answers): Record<string, Handler> {
  return {
    ExperimentalListPackageCustomSchemas: ({ schema = '', packageName = '' }, headers) =>
      headers[ACKNOWLEDGED] === 'true' ? answers.listPackageCustomSchemas(schema, packageName) : [],
  };
}

/** The API that a request names. */
function kindOf({ group = '', version = '', kind = '' }: Request): ApiKind {
  return { group, version, kind };
}

/** The status of an error as opm's server gives it: nearly every failure is UNKNOWN. Errors that opm does not have stay. */
function failure(error: unknown): unknown {
  if (error instanceof BadQuestion) return new GrpcFailure(Status.invalidArgument, error.message);
  return error instanceof NoAnswer ? new GrpcFailure(Status.unknown, error.message) : error;
}
