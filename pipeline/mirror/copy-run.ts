/** The settings and state that the steps of a copy share. */
import type { Clock, Registry } from '../ports.ts';
import type { BlobMover } from './blobs.ts';
import type { CompanionSource, TagLists } from './companions.ts';
import type { CopyMemory } from './copy-memory.ts';
import type { Progress, ProgressState } from './progress.ts';
import type { Writes } from './writes.ts';

/** What a copy needs of the place that it fills. */
export type CopyTarget = Pick<Registry, 'resolve' | 'putBlob' | 'putManifest' | 'listTags'>;

export interface CopyPorts {
  /** The registry of the source images; image layouts are opened separately. */
  readonly from: Registry;
  readonly to: CopyTarget;
  /** A repository of the destination that is known to have a blob. */
  readonly holderOf?: (registry: string, digest: string) => string | undefined;
  /** Whether a registry keeps lists of referrers itself, as far as is known. */
  readonly keepsReferrers: (registry: string) => boolean | undefined;
  readonly memory: CopyMemory;
  /** Asked, where the destination is a registry, whether it takes lists without all of their platforms. */
  readonly sparse?: Pick<Registry, 'putManifest' | 'deleteManifest'>;
  /** Failures that may be temporary are retried after a pause. */
  readonly clock: Pick<Clock, 'sleep'>;
  /** Called before anything is sent, with the sources of images that have layers which are not copied. */
  readonly elsewhere?: (sources: readonly string[]) => void;
  /** Called from time to time with how far it is. */
  readonly progress: (state: ProgressState) => void;
}

/** The state that all steps of one copy share. */
export interface CopyRun {
  readonly ports: CopyPorts;
  readonly mover: BlobMover;
  readonly writes: Writes;
  readonly progress: Progress;
  readonly sources: CompanionSource;
  readonly destinations: TagLists;
  /** Whether all platforms of a list must be there for the list to be there. */
  readonly checksLists: boolean;
}
