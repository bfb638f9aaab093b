/** Sigstore's services on this machine: an authority that gives out certificates, and a log, as real HTTP hosts. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  fulcioHandler,
  type HandlerFn,
  initializeCA,
  initializeCTLog,
  initializeTLog,
  rekorHandler,
} from '@sigstore/mock';
import type { Signer } from '../../pipeline/publish/attest/signer.ts';

export interface Sigstore {
  readonly signer: Signer;
  readonly issuer: string;
  /** The trusted root, as JSON. */
  readonly root: unknown;
  close(): void;
}

const ISSUER = 'https://token.actions.githubusercontent.com';

/** @param identity what the authority certifies of who signs */
export async function sigstore(identity: string): Promise<Sigstore> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ctlog = await initializeCTLog(keys);
  const authority = await initializeCA(keys, ctlog);
  const handlers = new Map<string, HandlerFn>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const handler = handlers.get(request.url ?? '');
    const answer = await handler?.(body);
    response.writeHead(answer?.statusCode ?? 404, { 'content-type': answer?.contentType ?? 'text/plain' });
    response.end(answer?.response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const log = await initializeTLog(url, keys);
  const [certify, note] = [fulcioHandler(authority), rekorHandler(log)];
  handlers.set(certify.path, certify.fn);
  handlers.set(note.path, (body) => note.fn(canonicalEntry(body)));
  return {
    signer: { kind: 'keyless', token: tokenOf({ sub: identity, iss: ISSUER }), fulcio: url, rekor: url },
    issuer: ISSUER,
    root: rootOf({
      url,
      authority: Buffer.from(authority.rootCertificate.buffer).toString('base64'),
      log: log.publicKey,
      certificates: ctlog.publicKey,
    }),
    close: () => void server.close(),
  };
}

/** An entry as a log keeps it: of the envelope no more than hashes and signatures. */
function canonicalEntry(body: string): string {
  const { kind, apiVersion, spec } = JSON.parse(body);
  const { envelope, verifiers } = spec.proposedContent;
  const { payload, signatures } = JSON.parse(envelope);
  const hash = (bytes: Buffer | string): unknown => ({
    algorithm: 'sha256',
    value: createHash('sha256').update(bytes).digest('hex'),
  });
  return JSON.stringify({
    kind,
    apiVersion,
    spec: {
      envelopeHash: hash(envelope),
      payloadHash: hash(Buffer.from(payload, 'base64')),
      signatures: signatures.map(({ sig }: { sig: string }) => ({ signature: sig, verifier: verifiers[0] })),
    },
  });
}

/** A token as the handler reads it; nobody checks its signature. */
function tokenOf(claims: Readonly<Record<string, string>>): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.${Buffer.from('x').toString('base64url')}`;
}

function rootOf(parts: {
  readonly url: string;
  readonly authority: string;
  readonly log: Buffer;
  readonly certificates: Buffer;
}): unknown {
  const validFor = { start: '2020-01-01T00:00:00Z' };
  const logOf = (key: Buffer): unknown => ({
    baseUrl: parts.url,
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: key.toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
    logId: { keyId: createHash('sha256').update(key).digest('base64') },
  });
  return {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [logOf(parts.log)],
    certificateAuthorities: [
      {
        subject: { organization: 'test', commonName: 'test' },
        uri: 'https://authority.example',
        certChain: { certificates: [{ rawBytes: parts.authority }] },
        validFor,
      },
    ],
    ctlogs: [logOf(parts.certificates)],
    timestampAuthorities: [],
  };
}
