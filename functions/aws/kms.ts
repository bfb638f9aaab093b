/**
 * A signing key in KMS: the private key never leaves it. Requests are signed with AWS's own library.
 *
 * @see https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html
 */

import { createHash, createHmac, createPublicKey, type Hash, type Hmac, type KeyObject } from 'node:crypto';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SignatureV4 } from '@smithy/signature-v4';
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { Signer } from '../../pipeline/publish/attest/signer.ts';
import { ASKING } from '../s3/failure.ts';

/** Time for an answer, in ms. */
const PATIENCE = 4000;
/** How often a request is sent when KMS is busy or does not answer. */
const TRIES = 3;

/**
 * Signs with a key in KMS.
 *
 * @param key id, ARN or alias of an ECDSA P-256 key
 * @param address of KMS in the key's region
 * @returns a signer; its functions throw PipelineError: `denied` when the role may not sign
 */
export function kmsSigner(key: string, address: string): Signer {
  let asked: Promise<KeyObject> | undefined;
  const publicKey = async (): Promise<KeyObject> => {
    const { PublicKey } = await askKms(address, 'GetPublicKey', { KeyId: key });
    return createPublicKey({ key: Buffer.from(String(PublicKey), 'base64'), format: 'der', type: 'spki' });
  };
  return {
    kind: 'remote',
    publicKey: () => {
      asked ??= publicKey();
      // What failed is asked for again.
      asked.catch(() => {
        asked = undefined;
      });
      return asked;
    },
    sign: async (bytes) => {
      const digest = createHash('sha256').update(bytes).digest('base64');
      const { Signature } = await askKms(address, 'Sign', {
        KeyId: key,
        Message: digest,
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      });
      return Buffer.from(String(Signature), 'base64');
    },
  };
}

/** SHA-256 and HMAC as SignatureV4 calls them. */
class Sha256 {
  readonly #hash: Hash | Hmac;
  constructor(secret?: string | Uint8Array | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array);
  }
  update(chunk: string | Uint8Array): void {
    this.#hash.update(chunk);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  // Demanded by the library's type, but never called by it.
  reset(): void {
    throw new Error('a hash is used once');
  }
}

type Answer = Readonly<Record<string, unknown>>;

/**
 * Asks KMS, again where it is busy.
 *
 * @throws PipelineError `denied`, or retryable where another try may help
 */
async function askKms(address: string, action: string, body: object): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const { status, answer } = await sendToKms(new URL(address), action, JSON.stringify(body));
    if (status === 200) return answer;
    // 0: nothing came back.
    const isBusy = status === 0 || status >= 500 || /Throttl/.test(String(answer['__type']));
    if (isBusy && tries < TRIES) continue;
    // A type may have its namespace, as in `com.amazonaws.kms#DisabledException`.
    const name = String(answer['__type'] ?? `status ${status}`).replace(/^.*#/, '');
    const code = status === 0 ? 'unreachable' : isBusy ? 'rate-limited' : 'denied';
    throw new PipelineError(code, `the signing key: ${action}: ${name}`, { retryable: isBusy });
  }
}

/** Sends one request to KMS. @returns the status 0 when nothing came back */
async function sendToKms(
  url: URL,
  action: string,
  body: string,
): Promise<{ status: number; answer: Answer }> {
  const headers = await signedHeaders(url, action, body);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(PATIENCE),
    });
    const answer: unknown = parsedJson(await response.text());
    return { status: response.status, answer: isObject(answer) ? answer : {} };
  } catch {
    return { status: 0, answer: {} };
  }
}

/** The headers of a request to KMS, signed with the role's credentials. */
async function signedHeaders(url: URL, action: string, body: string): Promise<Record<string, string>> {
  // The role's credentials and region, found as every other client finds them.
  const { config } = new SecretsManagerClient(ASKING);
  const signer = new SignatureV4({
    service: 'kms',
    region: config.region,
    credentials: config.credentials,
    sha256: Sha256,
  });
  const { headers } = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    path: url.pathname,
    query: {},
    headers: {
      host: url.host,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `TrentService.${action}`,
    },
    body,
  });
  // `fetch` writes the host itself.
  const { host: _, ...rest } = headers;
  return rest;
}
