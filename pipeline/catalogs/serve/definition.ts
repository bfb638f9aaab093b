/**
 * The APIs in protobuf's terms: names, types and numbers of fields are those that OLM v0, its
 * package server and Kubernetes' probes speak.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/api/registry.proto
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */

/** A message's fields, each written `[repeated ]type`, numbered from 1 in their order. */
type Fields = readonly (readonly [name: string, type: string])[];

const KIND: Fields = [
  ['group', 'string'],
  ['version', 'string'],
  ['kind', 'string'],
  ['plural', 'string'],
];
const TYPED: Fields = [
  ['type', 'string'],
  ['value', 'string'],
];

const MESSAGES: Readonly<Record<string, Fields>> = {
  Channel: [
    ['name', 'string'],
    ['csvName', 'string'],
    ['deprecation', 'Deprecation'],
  ],
  PackageName: [['name', 'string']],
  Package: [
    ['name', 'string'],
    ['channels', 'repeated Channel'],
    ['defaultChannelName', 'string'],
    ['deprecation', 'Deprecation'],
  ],
  GroupVersionKind: KIND,
  Dependency: TYPED,
  Property: TYPED,
  Bundle: [
    ['csvName', 'string'],
    ['packageName', 'string'],
    ['channelName', 'string'],
    ['csvJson', 'string'],
    ['object', 'repeated string'],
    ['bundlePath', 'string'],
    ['providedApis', 'repeated GroupVersionKind'],
    ['requiredApis', 'repeated GroupVersionKind'],
    ['version', 'string'],
    ['skipRange', 'string'],
    ['dependencies', 'repeated Dependency'],
    ['properties', 'repeated Property'],
    ['replaces', 'string'],
    ['skips', 'repeated string'],
    ['deprecation', 'Deprecation'],
  ],
  ChannelEntry: [
    ['packageName', 'string'],
    ['channelName', 'string'],
    ['bundleName', 'string'],
    ['replaces', 'string'],
  ],
  ListPackageRequest: [],
  ListBundlesRequest: [],
  GetPackageRequest: [['name', 'string']],
  GetBundleRequest: [
    ['pkgName', 'string'],
    ['channelName', 'string'],
    ['csvName', 'string'],
  ],
  GetBundleInChannelRequest: [
    ['pkgName', 'string'],
    ['channelName', 'string'],
  ],
  GetAllReplacementsRequest: [['csvName', 'string']],
  GetReplacementRequest: [
    ['csvName', 'string'],
    ['pkgName', 'string'],
    ['channelName', 'string'],
  ],
  GetAllProvidersRequest: KIND,
  GetLatestProvidersRequest: KIND,
  GetDefaultProviderRequest: KIND,
  Deprecation: [['message', 'string']],
  ExperimentalListPackageCustomSchemasRequest: [
    ['schema', 'string'],
    ['packageName', 'string'],
  ],
};

/** Method, message of its request, message of its answer, which may come as a stream. */
type Methods = readonly (readonly [name: string, request: string, answer: string])[];

const METHODS: Methods = [
  ['ListPackages', 'ListPackageRequest', 'stream PackageName'],
  ['GetPackage', 'GetPackageRequest', 'Package'],
  ['GetBundle', 'GetBundleRequest', 'Bundle'],
  ['GetBundleForChannel', 'GetBundleInChannelRequest', 'Bundle'],
  ['GetChannelEntriesThatReplace', 'GetAllReplacementsRequest', 'stream ChannelEntry'],
  ['GetBundleThatReplaces', 'GetReplacementRequest', 'Bundle'],
  ['GetChannelEntriesThatProvide', 'GetAllProvidersRequest', 'stream ChannelEntry'],
  ['GetLatestChannelEntriesThatProvide', 'GetLatestProvidersRequest', 'stream ChannelEntry'],
  ['GetDefaultBundleThatProvides', 'GetDefaultProviderRequest', 'Bundle'],
  ['ListBundles', 'ListBundlesRequest', 'stream Bundle'],
];

const EXPERIMENTAL_METHODS: Methods = [
  [
    'ExperimentalListPackageCustomSchemas',
    'ExperimentalListPackageCustomSchemasRequest',
    'stream google.protobuf.Struct',
  ],
];

const HEALTH_METHODS: Methods = [
  ['Check', 'HealthCheckRequest', 'HealthCheckResponse'],
  ['Watch', 'HealthCheckRequest', 'stream HealthCheckResponse'],
];
/** By number, from 0. */
const STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

/** The services' names in full. */
export const REGISTRY = 'api.Registry';
export const EXPERIMENTAL = 'api.ExperimentalRegistry';
export const HEALTH = 'grpc.health.v1.Health';

interface FieldJson {
  readonly type: string;
  readonly id: number;
  readonly rule?: 'repeated';
}

interface MethodJson {
  readonly requestType: string;
  readonly responseType: string;
  readonly responseStream: boolean;
  /** The library wants one. */
  readonly comment: string;
}

interface MessageJson {
  readonly fields: Record<string, FieldJson>;
  readonly oneofs?: Record<string, { readonly oneof: readonly string[] }>;
  readonly nested?: Record<string, MessageJson>;
  readonly options?: { readonly map_entry: true };
}

interface ServiceJson {
  readonly methods: Record<string, MethodJson>;
}

interface EnumJson {
  readonly values: Record<string, number>;
}

interface NamespaceJson {
  readonly nested: Record<string, MessageJson | ServiceJson | EnumJson | NamespaceJson>;
}

/** The registry API and that of health, as the JSON that protobuf.js reads. */
export function servedApis(): NamespaceJson {
  const messages = Object.entries(MESSAGES).map(([name, fields]) => [name, message(fields)]);
  const api = {
    ...Object.fromEntries(messages),
    Registry: service(METHODS),
    ExperimentalRegistry: service(EXPERIMENTAL_METHODS),
  };
  const health = {
    ServingStatus: { values: Object.fromEntries(STATUSES.map((status, number) => [status, number])) },
    HealthCheckRequest: message([['service', 'string']]),
    HealthCheckResponse: message([['status', 'ServingStatus']]),
    Health: service(HEALTH_METHODS),
  };
  return {
    nested: {
      google: { nested: { protobuf: { nested: structMessages() } } },
      api: { nested: api },
      grpc: { nested: { health: { nested: { v1: { nested: health } } } } },
    },
  };
}

/**
 * The messages that carry any JSON in protobuf: `Struct` and what it is made of.
 *
 * @see https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/struct.proto
 */
function structMessages(): NamespaceJson['nested'] {
  const value = message([
    ['null_value', 'NullValue'],
    ['number_value', 'double'],
    ['string_value', 'string'],
    ['bool_value', 'bool'],
    ['struct_value', 'Struct'],
    ['list_value', 'ListValue'],
  ]);
  const entry: MessageJson = {
    ...message([
      ['key', 'string'],
      ['value', 'Value'],
    ]),
    options: { map_entry: true },
  };
  return {
    // A map, as it is sent; the library would describe one by a name that clients refuse.
    Struct: { ...message([['fields', 'repeated FieldsEntry']]), nested: { FieldsEntry: entry } },
    Value: { ...value, oneofs: { kind: { oneof: Object.keys(value.fields) } } },
    ListValue: message([['values', 'repeated Value']]),
    NullValue: { values: { NULL_VALUE: 0 } },
  };
}

/** A message in the JSON of protobufjs: its fields numbered from 1 in their order. */
function message(fields: Fields): MessageJson {
  return { fields: Object.fromEntries(fields.map(([name, type], i) => [name, fieldJson(type, i + 1)])) };
}

/** A service in the JSON of protobufjs. A method whose answer is written `stream T` sends any number of T. */
function service(methods: Methods): ServiceJson {
  const described = methods.map(([name, requestType, answer]): [string, MethodJson] => {
    const responseType = answer.replace('stream ', '');
    return [name, { requestType, responseType, responseStream: answer !== responseType, comment: '' }];
  });
  return { methods: Object.fromEntries(described) };
}

/** A field in the JSON of protobufjs, from its type, which may be written `repeated T`. */
function fieldJson(written: string, id: number): FieldJson {
  const type = written.replace('repeated ', '');
  return { type, id, ...(type === written ? {} : { rule: 'repeated' }) };
}
