/** The messages between a check in a separate process and the process that started it. */
import { type ErrorCode, PipelineError, type Remedy } from '../../error.ts';
import type { GitSettings } from '../../git/process.ts';
import type { CheckReport } from '../report.ts';
import type { CheckRequest } from '../request.ts';

/** The input of a check. It has no credentials and no access to other hosts. */
export interface Task {
  readonly settings: GitSettings;
  /** The git directory, which both processes read. */
  readonly scratch: string;
  readonly shallow: boolean;
  /** Whether objects that are missing can be asked for. */
  readonly isRemote: boolean;
  /** Ids of the objects that came for this pull request already. */
  readonly brought: readonly string[];
  readonly request: TaskRequest;
  readonly people: Omit<NonNullable<CheckRequest['people']>, 'directoryFor' | 'leftBaseAt'> | undefined;
  /** Which of the request's ports there are; the process that started the check keeps them. */
  readonly has: Readonly<Record<'history' | 'registry' | 'cache' | 'directory' | 'leftBase', boolean>>;
}

/** The part of a request that is data. */
type TaskRequest = Omit<
  CheckRequest,
  'historyOf' | 'registryFor' | 'cache' | 'people' | 'kept' | 'otherCatalogs' | 'crds' | 'manifests'
>;

/** An error as it is sent; the class does not come across. */
interface SentError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly hint: string | undefined;
  readonly details: readonly string[];
  readonly remedy: Remedy | undefined;
}

export type ToReader =
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: SentError };

export type FromReader =
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly what: string;
      readonly parameters: readonly unknown[];
    }
  | { readonly kind: 'report'; readonly report: CheckReport }
  | { readonly kind: 'error'; readonly error: SentError };

/** An error as data, for the other process. */
export function sentError({
  code,
  message,
  retryable,
  status,
  hint,
  details,
  remedy,
}: PipelineError): SentError {
  return { code, message, retryable, status, hint, details: [...details], remedy };
}

/** The error that the other process sent. */
export function receivedError({ code, message, hint, remedy, ...more }: SentError): PipelineError {
  return new PipelineError(code, message, {
    ...more,
    ...(hint === undefined ? {} : { hint }),
    ...(remedy === undefined ? {} : { remedy }),
  });
}
