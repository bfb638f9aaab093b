/** Writes into registries. Where all that were tried fail, further ones only cost time: they are not tried. */
import { PipelineError } from '../error.ts';
import { quirksOf } from '../oci/registry/quirks.ts';

/** An image is there with its manifests: a registry may take all blobs and refuse these. */
type WriteKind = 'blob' | 'manifest';

export interface Writes {
  /**
   * Writes to a registry.
   *
   * @throws PipelineError what the registry answers; {@link isNotTried} where no write has succeeded and many failed
   */
  attempt<T>(registry: string, kind: WriteKind, write: () => Promise<T>): Promise<T>;
  /** Begins another pass: some writes are tried again. */
  again(): void;
  /** Registries that took nothing of one kind, each with its first error. */
  refusing(): readonly Refusal[];
}

export interface Refusal {
  readonly registry: string;
  /** The first error, which names the image. */
  readonly why: string;
}

/** Failures, with no success before, after which a registry takes nothing. */
const ENOUGH = 16;

/** What became of the writes of one kind to one registry. */
interface Tally {
  readonly registry: string;
  hasTaken: boolean;
  /** Of all passes. */
  failures: number;
  /** Of this pass, with all tries of each: what fails at once costs a single request. */
  retried: number;
  first: PipelineError | undefined;
}

/** Counts writes that registries take and refuse. A registry that refuses everything is not tried any more. */
export function countWrites(): Writes {
  const tallies = new Map<string, Tally>();
  const tallyOf = (registry: string, kind: WriteKind): Tally => {
    const key = `${kind} ${registry}`;
    const tally = tallies.get(key) ?? {
      registry,
      hasTaken: false,
      failures: 0,
      retried: 0,
      first: undefined,
    };
    tallies.set(key, tally);
    return tally;
  };
  return {
    attempt: async (registry, kind, write) => {
      const tally = tallyOf(registry, kind);
      if (!tally.hasTaken && tally.first && tally.retried >= ENOUGH) throw notTried(registry, tally.first);
      try {
        const written = await write();
        tally.hasTaken = true;
        return written;
      } catch (error) {
        note(tally, error);
        throw error;
      }
    },
    again: () => {
      for (const tally of tallies.values()) tally.retried = 0;
    },
    refusing: () =>
      [...tallies.values()].flatMap(({ registry, hasTaken, failures, first }) =>
        !hasTaken && first && failures >= ENOUGH ? [{ registry, why: first.message }] : [],
      ),
  };
}

/** Counts a failed write, if it is one of the registry's own. */
function note(tally: Tally, error: unknown): void {
  // A write also reads from the source, whose errors say nothing about the registry that is written to.
  const { registry } = tally;
  // Messages name the host that was asked, which for Docker Hub is another one.
  const hosts = [registry, quirksOf(registry).apiHost ?? registry];
  if (!(error instanceof PipelineError) || !hosts.some((host) => names(error.message, host))) return;
  tally.first ??= error;
  tally.failures++;
  if (error.retryable) tally.retried++;
}

/** Whether a message names a registry: `registry.example.com` and `example.com:5000` are not `example.com`. */
function names(message: string, registry: string): boolean {
  const [before, ...behind] = message.split(registry);
  let left = before ?? '';
  return behind.some((right) => {
    const isWhole = !/[\w.-]$/.test(left) && !/^(?:[\w-]|\.\w|:\d)/.test(right);
    left = right;
    return isWhole;
  });
}

/** How messages about writes that were not tried begin. */
const NOT_TRIED = 'not tried: ';

/** The error of a write that was not tried: it may be retried as the registry's first error may. */
function notTried(registry: string, { code, status, retryable }: PipelineError): PipelineError {
  const message = `${NOT_TRIED}no write to ${registry} has succeeded`;
  return new PipelineError(code, message, { status, retryable });
}

/** Whether an error says that a write was not tried. */
export function isNotTried({ message }: PipelineError): boolean {
  return message.startsWith(NOT_TRIED);
}
