/** Secrets that this process sends: hosts may repeat them, and messages are public. */

/** Fewest characters of a secret. Shorter ones are words that messages contain anyway. */
const SHORTEST = 8;
/** A host's tokens expire: those sent last are remembered. */
const MOST = 50;

/** What finds each secret in a text. */
const secrets = new Map<string, RegExp>();

/** Remembers a secret. */
export function keepSecret(secret: string): void {
  if (secret.length < SHORTEST) return;
  const pattern = secrets.get(secret) ?? patternOf(secret);
  secrets.delete(secret);
  secrets.set(secret, pattern);
  const [oldest = ''] = secrets.keys();
  if (secrets.size > MOST) secrets.delete(oldest);
}

/** Remembers the value of an `Authorization` header: a token, or a name and a password. */
export function keepAuthorization(value: string): void {
  const secret = value.slice(value.indexOf(' ') + 1);
  keepSecret(secret);
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(secret, 'base64').toString('utf8')) ?? [];
  keepSecret(password);
}

/** A text without the secrets, also where they are escaped as in a URL. */
export function withoutSecrets(text: string): string {
  let rest = text;
  for (const pattern of secrets.values()) rest = rest.replaceAll(pattern, '***');
  return rest;
}

/** A value without the secrets in its texts. */
export function cleaned<T>(value: T): T {
  if (typeof value === 'string') return withoutSecrets(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleaned) as T;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cleaned(member)])) as T;
}

/** Each character, or the escapes of its bytes. Hosts are in lower case in URLs. */
function patternOf(secret: string): RegExp {
  const characters = [...secret].map((one) => {
    const bytes = [...Buffer.from(one)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
    return `(?:${one.replaceAll(/[$()*+./?[\\\]^{|}-]/g, '\\$&')}|${bytes.join('')})`;
  });
  return new RegExp(characters.join(''), 'gi');
}
