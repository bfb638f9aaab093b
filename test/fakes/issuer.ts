/** Whoever gives jobs their identity tokens: keys over HTTP, and tokens that they sign. */
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { reply, startHost } from './host.ts';

export interface Issuer {
  readonly url: string;
  /** Whether the keys can be had. */
  isUp: boolean;
  /** A token with these claims, good for five minutes. */
  token(claims: Readonly<Record<string, unknown>>, how?: Signing): Promise<string>;
}

export interface Signing {
  /** Signs in place of the issuer's own key, under its name. */
  readonly key?: CryptoKey;
  readonly algorithm?: string;
  /** In s since 1970. */
  readonly issuedAt?: number;
}

/** One for all tests of a file: it takes its time. */
const pair = generateKeyPair('RS256');

export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await pair;
  const jwk = { ...(await exportJWK(publicKey)), kid: 'first', alg: 'RS256', use: 'sig' };
  const issuer: { -readonly [K in keyof Issuer]: Issuer[K] } = {
    url: '',
    isUp: true,
    token: (claims, { key = privateKey, algorithm = 'RS256', issuedAt } = {}) => {
      const from = issuedAt ?? Math.floor(Date.now() / 1000);
      return new SignJWT({ iss: issuer.url, nbf: from - 10, iat: from, exp: from + 300, ...claims })
        .setProtectedHeader({ alg: algorithm, kid: 'first', typ: 'JWT' })
        .sign(key);
    },
  };
  const { url } = await startHost((request, response) => {
    if (!issuer.isUp) return reply(response, 500);
    if (request.url !== '/.well-known/jwks') return reply(response, 404);
    reply(response, 200, JSON.stringify({ keys: [jwk] }), { 'content-type': 'application/json' });
  });
  issuer.url = url;
  return issuer;
}
