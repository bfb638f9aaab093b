/** A job's identity token, looked at with the keys of whoever gives such tokens. */
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { PipelineError } from '../pipeline/error.ts';

/** What a token says; what of it is asked for is another matter. */
export type Claims = Readonly<Record<string, unknown>>;

/** How long the keys may take to come, in ms. */
const TIMEOUT = 5000;
/** How far clocks may be apart, in s. */
const SKEW = 60;

/**
 * Reads identity tokens. It checks who issued a token and until when it holds; whom it is for and what it allows, the caller checks.
 *
 * @param issuer a URL, whose keys stand where GitHub and Sigstore's other issuers have them
 * @throws PipelineError from its function: `denied` for a token that the issuer did not sign,
 *   `unreachable` (retryable) when the keys cannot be had
 */
export function tokenReader(issuer: string): (token: string) => Promise<Claims> {
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks`), { timeoutDuration: TIMEOUT });
  return async (token) => {
    try {
      // One algorithm: a token does not choose how it is checked.
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ['RS256'],
        issuer,
        clockTolerance: SKEW,
      });
      return payload;
    } catch (cause) {
      if (isOfToken(cause)) {
        throw new PipelineError('denied', `the identity token was not issued by ${issuer}`, { cause });
      }
      throw new PipelineError('unreachable', `cannot get the keys of ${issuer}`, {
        cause,
        retryable: true,
      });
    }
  };
}

/** Whether the token is at fault, and not the way to the keys. */
function isOfToken(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false;
  const ofKeys = [errors.JWKSTimeout.code, errors.JWKSInvalid.code, errors.JOSEError.code];
  return !ofKeys.includes(error.code);
}
