/** What the cloud's APIs answer when something cannot be done, as a PipelineError. */
import { isObject } from '../../catalog/go/shape.ts';
import { type ErrorCode, PipelineError } from '../../pipeline/error.ts';

/** Whether an API answered with a status of HTTP. */
export function isStatus(error: unknown, status: number): boolean {
  const metadata = isObject(error) ? error['$metadata'] : undefined;
  return isObject(metadata) && metadata['httpStatusCode'] === status;
}

/**
 * Sends requests to one of the cloud's APIs.
 *
 * @param what is read or written, for the message
 * @param work sends them
 * @throws PipelineError with the API's own name for what went wrong, and nothing of the request
 */
export async function cloudError<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PipelineError) throw error;
    const name = error instanceof Error ? error.name : 'an unknown failure';
    throw new PipelineError(codeOf(error), `${what}: ${name}`, {
      cause: error,
      retryable: isRetryable(error),
    });
  }
}

/** The APIs that speak JSON answer with 400 to everything that is wrong; the name says what it was. */
const DENIED =
  /^(?:AccessDenied|NotAuthorized|UnrecognizedClient|ExpiredToken|Invalid(?:Signature|ClientToken))/;
const SLOWER = /^(?:Throttl|RequestThrottled|RequestLimitExceeded|ProvisionedThroughput|TooManyRequests)/;

/** Whether an API's own name of an error is one of these. */
function isNamed(error: unknown, names: RegExp): boolean {
  return error instanceof Error && names.test(error.name);
}

/**
 * The kind of a failure: from the status of HTTP, and where APIs answer 400 to everything from the name of
 * the error.
 */
export function codeOf(error: unknown): ErrorCode {
  if (isStatus(error, 401) || isStatus(error, 403) || isNamed(error, DENIED)) return 'denied';
  if (isStatus(error, 404)) return 'not-found';
  if (isStatus(error, 429) || isNamed(error, SLOWER)) return 'rate-limited';
  return isAnswer(error) ? 'bad-answer' : 'unreachable';
}

/** Whether the API answered. Errors without an answer have metadata, too (how often it was asked), but no status. */
function isAnswer(error: unknown): boolean {
  const metadata = isObject(error) ? error['$metadata'] : undefined;
  return isObject(metadata) && metadata['httpStatusCode'] !== undefined;
}

/** Whether the same request may go better later: not where it is wrong or not allowed, or its object does not exist. */
export function isRetryable(error: unknown): boolean {
  if (isNamed(error, SLOWER)) return true;
  return ![400, 401, 403, 404].some((status) => isStatus(error, status));
}

// How the cloud's APIs are asked, whichever it is.

/**
 * Of every client. Without it a connection that died is waited for until the function is killed, and then its message
 * comes again after an hour; so it is asked anew, on another one. In ms: twice fit into the shortest function's time.
 */
export const ASKING = { requestHandler: { connectionTimeout: 2000, socketTimeout: 4000 } } as const;
