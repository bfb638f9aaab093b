/** From where to where `mirror copy` goes: registry to registry, into an archive, out of archives. */
import { basename, dirname, resolve } from 'node:path';
import { PipelineError } from '../../error.ts';
import { archivePlan, MAPPING } from '../../mirror/archive/plan.ts';
import { openArchives, receiptAt } from '../../mirror/archive/reader.ts';
import { RECEIPT } from '../../mirror/archive/receipt.ts';
import { openArchiveWriter } from '../../mirror/archive/writer.ts';
import { type CopyMemory, NO_MEMORY, openMemory } from '../../mirror/copy-memory.ts';
import type { CopyPorts } from '../../mirror/copy-run.ts';
import { digestOf } from '../../oci/digest.ts';
import type { RegistryClient } from '../../oci/registry/client.ts';
import type { Terminal } from '../../terminal.ts';
import { writeFiles } from '../../write.ts';
import { type Command, type Invocation, isGiven, usageError } from '../command.ts';

/** An archive in place of the mirror. */
export const ARCHIVE_OPTIONS = {
  'to-archive': {
    value: 'DIR',
    description: 'write the images to an archive in this directory instead of the mirror',
  },
  since: {
    value: 'DIR',
    description: 'skip the content of this earlier archive (its directory or its receipt.json)',
  },
} as const;

/**
 * Refuses options that do not fit whether an archive is written.
 *
 * @throws PipelineError `usage`
 */
export function checkArchiveOptions(command: Command, invocation: Invocation): void {
  const isWritten = isGiven(invocation, 'to-archive');
  const unfit = (isWritten ? OF_MIRROR : OF_ARCHIVE).find((name) => isGiven(invocation, name));
  if (unfit === undefined) return;
  throw usageError(
    command,
    isWritten ? `--to-archive and --${unfit} cannot be used together` : `--${unfit} needs --to-archive`,
  );
}

/** Options that say nothing where no archive is written, and those that say nothing where one is. */
const OF_ARCHIVE = ['since', 'archive-size'];
const OF_MIRROR = ['from-archive', 'state', 'prune'];

interface CopyWay {
  readonly ports: Omit<CopyPorts, 'progress' | 'clock'>;
  /** Images are read under the names that they are to have. */
  readonly isLoading: boolean;
  /** Completes an archive; gives its bytes. */
  readonly finish: () => Promise<{ readonly archive?: number }>;
  /** Leaves everything as it is, to be gone on with. */
  readonly close: () => Promise<void>;
}

interface WayOptions {
  readonly client: RegistryClient;
  readonly mapping: { readonly path: string; readonly text: string };
  /** Bytes of each file of an archive, where the command line names none. */
  readonly part?: number | undefined;
}

/**
 * Opens source and destination of a copy: registries, or archives.
 *
 * @throws PipelineError `usage`, `io`, `not-found`, `corrupt`
 */
export async function openWay(
  invocation: Invocation,
  { directory }: Terminal,
  { client, mapping, part }: WayOptions,
): Promise<CopyWay> {
  const { text, list } = invocation;
  const archive = text('to-archive');
  const archives = list('from-archive').map((path) => resolve(directory, path));
  if (archive !== undefined)
    return toArchive(resolve(directory, archive), invocation, { client, mapping, part, directory });
  // Only an archive that is written has anything to complete or to close.
  const whole = { finish: async () => ({}), close: async () => undefined };
  const memory = memoryFor(text('state'), { mapping, directory });
  if (archives.length === 0) {
    return {
      ports: { from: client, to: client, sparse: client, keepsReferrers: client.keepsReferrers, memory },
      isLoading: false,
      ...whole,
    };
  }
  const { registry, holderOf } = await openArchives(archives, client);
  // An archive lists the referrers of its images itself: no tags have to be looked through.
  const keepsReferrers = () => true;
  const ports = { from: registry, to: client, sparse: client, holderOf, keepsReferrers, memory };
  return { ports, isLoading: true, ...whole };
}

/** The memory that was named, or one beside the mapping; none beside what may only be read. */
function memoryFor(
  state: string | undefined,
  { mapping, directory }: Pick<WayOptions, 'mapping'> & { readonly directory: string },
): CopyMemory {
  if (state !== undefined) return openMemory(resolve(directory, state));
  try {
    return openMemory(`${mapping.path}.state`);
  } catch (error) {
    if (error instanceof PipelineError) return NO_MEMORY;
    throw error;
  }
}

/** The way into an archive. It leaves out what the receipt of an earlier archive lists. */
async function toArchive(
  archive: string,
  { text }: Invocation,
  { client, mapping, part: usual, directory }: WayOptions & { readonly directory: string },
): Promise<CopyWay> {
  const before = text('since');
  const since = before === undefined ? undefined : receiptAt(folderOf(resolve(directory, before)));
  const size = text('archive-size');
  // What the option says, else the configuration, else 8 GiB.
  const part = size === undefined && usual !== undefined ? usual : sizeOption(size ?? '8GiB');
  const writer = await openArchiveWriter({ directory: archive, part, since });
  const { keepsReferrers } = client;
  return {
    // The archive itself remembers what it has.
    ports: { from: client, to: writer.target, keepsReferrers, memory: NO_MEMORY },
    isLoading: false,
    close: writer.close,
    finish: async () => {
      const files = archivePlan(dirname(mapping.path), archive);
      // The mapping may have another name beside its plan.
      const own = new TextEncoder().encode(mapping.text);
      writeFiles(archive, new Map([[MAPPING, own]]));
      const others = files.filter(({ name }) => name !== MAPPING);
      return { archive: await writer.finish([...others, { name: MAPPING, digest: digestOf(own) }]) };
    },
  };
}

/** The directory of an archive that was named by its receipt or itself. */
export function folderOf(path: string): string {
  return basename(path) === RECEIPT ? dirname(path) : path;
}

/** Bytes of a unit, as Kubernetes writes quantities. */
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};
/** Bytes. A part must hold more than headers. */
const SMALLEST = 4096;

/** Bytes as `500000`, `4GiB`, `4Gi`, `100M`. @throws PipelineError `usage` */
function sizeOption(text: string): number {
  const [, number = '', unit = ''] = /^(\d+)(|[kMG]|[KMG]i)B?$/.exec(text) ?? [];
  // The pattern has every unit of the table: NaN is for the compiler.
  const bytes = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (number !== '' && bytes >= SMALLEST && Number.isSafeInteger(bytes)) return bytes;
  throw new PipelineError(
    'usage',
    `--archive-size must be a size such as 4GiB, not ${JSON.stringify(text)}`,
    {
      hint: `the minimum is ${SMALLEST} bytes`,
    },
  );
}
