/**
 * The registry client as a library of its own, and the places and the registry that go with it.
 */
export type {
  BlobOutcome,
  BlobSource,
  Clock,
  Credential,
  CredentialSource,
  Descriptor,
  Manifest,
  Platform,
  PutBlobOptions,
  Registry,
  Repository,
  UploadMemory,
} from '../../ports.ts';
export { digestOf } from '../digest.ts';
export { DOCKER_LIST, DOCKER_MANIFEST, OCI_INDEX, OCI_MANIFEST } from '../media-types.ts';
export { type ClientOptions, createRegistryClient, type RegistryClient } from './client.ts';
export { type AuthfileOptions, authfileCredentials, credentialsOnlyFor } from './credentials.ts';
export type { AccessOptions } from './embedded/access.ts';
export {
  type RegistryOptions,
  type RunningRegistry,
  type SeenRequest,
  startRegistry,
} from './embedded/server.ts';
export type { Timeouts } from './http/exchange.ts';
export type { Environment } from './http/proxy.ts';
export type { RetryOptions } from './http/retry.ts';
export type { Traffic } from './http/transport.ts';
export {
  contentOf,
  type ImageManifest,
  isManifestType,
  type ManifestList,
  parseManifest,
} from './image.ts';
export { formatLocation, type ImageLocation, parseLocation } from './image-location.ts';
export { type Layout, openLayout } from './layout/layout.ts';
export { layoutRegistry } from './layout/registry.ts';
export type { LayoutTag } from './name.ts';
export { type Destination, openDestination, openSource, type Source } from './open.ts';
export {
  copyImage,
  type ImageContent,
  type PushOptions,
  type PushReport,
  pushImage,
  readImage,
} from './push.ts';
