/** Answers that are not a success: from a status and a body to a PipelineError that people can use. */
import { parseJson } from '../../../catalog/json.ts';
import { type ErrorCode, PipelineError } from '../../error.ts';
import { withoutSecrets } from '../../secrets.ts';
import type { Answer } from './http/exchange.ts';

/** Bytes of an error body that are looked at. */
const ERROR_BODY = 16 * 1024;
/** Characters of a registry's message that are shown. */
const MESSAGE_LENGTH = 300;

/** Statuses with a code of their own; all others are `bad-answer`. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'denied',
  403: 'denied',
  404: 'not-found',
  407: 'denied',
  409: 'conflict',
  410: 'not-found',
  412: 'conflict',
  413: 'too-large',
  429: 'rate-limited',
};

/** Statuses that another try may mend. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export function isRetryable(status: number): boolean {
  return RETRYABLE.has(status);
}

/** The media type of an answer in lower case, without its parameters; '' if there is none. */
export function contentType(answer: Answer): string {
  return (answer.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** A header's value, the first of several; undefined when it is absent. */
export function headerOf(answer: Answer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Reads a body of at most `limit` bytes.
 *
 * @throws PipelineError `too-large` beyond the limit
 */
export async function readAll(answer: Answer, limit: number, what: string): Promise<Buffer> {
  const announced = Number(answer.headers['content-length'] ?? 0);
  if (announced > limit) {
    await answer.discard();
    throw tooLarge(answer, limit, what);
  }
  const { bytes, error } = await answer.whole(limit);
  if (error) throw error;
  if (bytes.length > limit) throw tooLarge(answer, limit, what);
  return bytes;
}

function tooLarge(answer: Answer, limit: number, what: string): PipelineError {
  return new PipelineError('too-large', `${what} from ${answer.url.host} is larger than ${limit} bytes`);
}

/** The error for an answer that is none of those expected; reads its body. */
export async function failureOf(answer: Answer, what: string): Promise<PipelineError> {
  const message = await errorText(answer);
  const code = errorCode(answer.status, message);
  return new PipelineError(
    code,
    `${answer.url.host} returned ${answer.status} for ${what}${message === '' ? '' : `: ${message}`}`,
    { retryable: isRetryable(answer.status), status: answer.status },
  );
}

/** The code for a status; where registries differ, what they say in words counts. */
function errorCode(status: number, message: string): ErrorCode {
  if (/TOOMANYREQUESTS/.test(message)) return 'rate-limited';
  // Registries answer for immutable tags with 400, 403, 405 or 409, each with its own code.
  if (status >= 400 && status < 500 && /immutable|TAG_INVALID|ImageTagAlreadyExists/i.test(message))
    return 'conflict';
  return CODES[status] ?? 'bad-answer';
}

/**
 * What the body says, as one line that is safe to print.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes
 */
async function errorText(answer: Answer): Promise<string> {
  let body: string;
  try {
    body = (await readAll(answer, ERROR_BODY, 'an error')).toString('utf8');
  } catch {
    // The status says enough; a body that cannot be read adds nothing.
    return '';
  }
  if (!/json/.test(contentType(answer)) && !body.startsWith('{')) return '';
  const parts: string[] = [];
  for (const error of errorsOf(body)) {
    const text = [error.code, error.message]
      .filter((part) => typeof part === 'string' && part !== '')
      .join(' ');
    if (text !== '') parts.push(text);
  }
  return printableText(withoutSecrets(parts.join('; ')));
}

/** Errors of a reply that a message shows. */
const MOST_ERRORS = 3;

/** The first errors of a reply's body. Some registries send one error without the list that the OCI specification asks for. */
function errorsOf(body: string): { code?: unknown; message?: unknown }[] {
  try {
    const parsed: unknown = parseJson(body);
    const errors =
      typeof parsed === 'object' && parsed !== null && 'errors' in parsed ? parsed.errors : undefined;
    if (Array.isArray(errors))
      return errors.slice(0, MOST_ERRORS).filter((error) => typeof error === 'object' && error !== null);
    return typeof parsed === 'object' && parsed !== null ? [parsed] : [];
  } catch {
    return [];
  }
}

/** A foreign text for a message: one line, no control characters, not long. */
export function printableText(text: string): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > MESSAGE_LENGTH ? `${line.slice(0, MESSAGE_LENGTH)}…` : line;
}
