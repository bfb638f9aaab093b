/** What comes to a function over HTTP, as an HTTP API and a function's own address hand it over (format 2.0). */
import type { AnswerRoom } from '../publish-request.ts';
import type { Delivery } from '../receive.ts';

export interface HttpEvent {
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  /** The name that was asked; the platform's word, not the sender's. */
  readonly requestContext?: { readonly domainName?: string };
}

/**
 * A request as bytes and headers: signatures are of the bytes, which the platform may hand over in base64.
 */
export function deliveryOf({ headers, body, isBase64Encoded }: HttpEvent): Delivery {
  return {
    headers: Object.fromEntries(
      Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
  };
}

/** An answer of Lambda may have 6 MB; a text is in the body's JSON, which is a text in the JSON of the function's answer. */
export const ROOM: AnswerRoom = {
  bytes: 5_000_000,
  sent: (text) => Buffer.byteLength(JSON.stringify(JSON.stringify(text))),
};
