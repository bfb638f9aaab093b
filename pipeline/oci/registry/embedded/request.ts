/** One request to the registry, and what the answers to it work on. */
import type { IncomingMessage } from 'node:http';
import type { Layout } from '../layout/layout.ts';
import type { Gate } from './access.ts';
import type { Members } from './members.ts';
import type { Uploads } from './uploads.ts';

export interface RegistryRequest {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** The body of the request. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Registry {
  readonly layout: Layout;
  readonly members: Members;
  readonly uploads: Uploads;
  readonly gate: Gate;
  /** From the name in a path to that in the layout, where the layout's own repository is empty. */
  readonly toLayout: (name: string) => string;
  readonly fromLayout: (repository: string) => string;
  /** Whether existing tags are immutable. */
  readonly isImmutable: (name: string, tag: string) => boolean;
  /** Whether a list may name images that the repository does not have. */
  readonly takesSparse: boolean;
  /** Bytes of a manifest at most. */
  readonly largestManifest: number;
}
