/**
 * What could not be done. The only type that the pipeline throws; any other exception
 * is a bug. What is wrong with what people wrote is a Finding instead.
 */

import { withoutSecrets, withoutSecretsIn } from './secrets.ts';

/** The closed list of reasons. */
export type ErrorCode =
  /** The command line, an input or the policy cannot be used as given. */
  | 'usage'
  /** A file, directory, commit, image or tag that was asked for does not exist. */
  | 'not-found'
  /** The local file system refused: permissions, no space left, a read-only directory. */
  | 'io'
  /** git failed or is missing. */
  | 'git'
  /** No answer from a host: refused, reset, timed out, no such name. */
  | 'unreachable'
  /** A host answered that these credentials may not do this. */
  | 'denied'
  /** A host asked to slow down for longer than the budget allows. */
  | 'rate-limited'
  /** A host answered something that its protocol does not allow, or failed (5xx). */
  | 'bad-answer'
  /** Bytes did not have the digest or the size that was promised. */
  | 'corrupt'
  /** Something is larger than its limit. */
  | 'too-large'
  /** A host or address that the policy does not allow. */
  | 'not-allowed'
  /** Somebody else was first: a tag that moved on, an immutable tag, a lost claim. */
  | 'conflict';

/** A setting that the program which ran would need, as a host or a file of certificates. */
export interface Remedy {
  readonly kind: 'plain-http' | 'internal' | 'authority';
  readonly host: string;
}

interface ErrorOptions {
  /** Whether the same call may succeed later. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
  /** The HTTP status, where a host answered with one. */
  readonly status?: number | undefined;
  /** What the reader can do about it. */
  readonly hint?: string | undefined;
  /** Lines that belong to the hint, such as what to write into a file. */
  readonly details?: readonly string[];
  /** The same where it is a setting of how registries are reached, which every program names in its own way. */
  readonly remedy?: Remedy | undefined;
}

/** What could not be done, and why. Its texts have none of the secrets that this process sends. */
export class PipelineError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly hint: string | undefined;
  readonly details: readonly string[];
  readonly remedy: Remedy | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(withoutSecrets(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PipelineError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.status = options.status;
    const hint = options.hint ?? (options.remedy && REMEDIES[options.remedy.kind](options.remedy.host));
    this.hint = hint && withoutSecrets(hint);
    this.details = withoutSecretsIn(options.details ?? []);
    this.remedy = withoutSecretsIn(options.remedy);
  }
}

/** Remedies in the words of `portolan` and of its Action; `opm` has flags of its own. */
const REMEDIES: Readonly<Record<Remedy['kind'], (host: string) => string>> = {
  'plain-http': (host) => `if ${host} uses plain HTTP: --insecure ${host}, or the Action's input plain-http`,
  internal: (host) =>
    `if Portolan may connect to it: --internal ${host}, or registries.internal in the policy`,
  authority: (host) => `pass the certificate of the CA that signed ${host}'s certificate: --ca FILE`,
};
