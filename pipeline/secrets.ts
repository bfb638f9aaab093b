/** Secrets that this process sends: hosts may repeat them, and messages are public. */

/** Fewest characters of a secret. Shorter ones are words that messages contain anyway. */
const SHORTEST = 8;
/** Secrets that are remembered at most: a host's tokens expire, so those sent last are enough. */
const MOST = 50;

/** What finds each secret in a text. */
const secrets = new Map<string, RegExp>();

/** Remembers a secret. */
export function keepSecret(secret: string): void {
  if (secret.length < SHORTEST) return;
  const pattern = secrets.get(secret) ?? patternOf(secret);
  // The map is in the order of use: what was used last moves to the end.
  secrets.delete(secret);
  secrets.set(secret, pattern);
  const [oldest = ''] = secrets.keys();
  if (secrets.size > MOST) secrets.delete(oldest);
}

/** Remembers the value of an `Authorization` header: a token, or a name and a password. */
export function keepAuthorization(value: string): void {
  // Behind the scheme, such as `Basic` or `Bearer`.
  const secret = value.slice(value.indexOf(' ') + 1);
  keepSecret(secret);
  // Who repeats Base64 may leave out its padding.
  keepSecret(secret.replace(/=+$/, ''));
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(secret, 'base64').toString('utf8')) ?? [];
  keepSecret(password);
  // The Base64 of a password that is too short to be kept would itself be long enough.
  if (password.length >= SHORTEST) keepSecret(Buffer.from(password).toString('base64').replace(/=+$/, ''));
}

/** A text without the secrets, also where they are escaped as in a URL or in JSON, and without names and passwords in addresses. */
export function withoutSecrets(text: string): string {
  let rest = withoutUserinfo(text);
  for (const pattern of secrets.values()) rest = rest.replaceAll(pattern, '***');
  return rest;
}

/** A value without the secrets in its texts. */
export function withoutSecretsIn<T>(value: T): T {
  if (typeof value === 'string') return withoutSecrets(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutSecretsIn) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withoutSecretsIn(member)]),
  ) as T;
}

/** Each character, or its escapes as in a URL and in JSON. Hosts are in lower case in URLs. */
function patternOf(secret: string): RegExp {
  const characters = [...secret].map((one) => {
    // Characters with a meaning in a pattern.
    const plain = one.replaceAll(/[$()*+./?[\\\]^{|}-]/g, '\\$&');
    const inUrl = [...Buffer.from(one)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
    const inJson = Array.from({ length: one.length }, (_, i) => one.charCodeAt(i)).map(
      (unit) => String.raw`\\u${unit.toString(16).padStart(4, '0')}`,
    );
    // JSON may put a backslash before these three.
    return `(?:${/["/\\]/.test(one) ? String.raw`\\?` : ''}${plain}|${inUrl.join('')}|${inJson.join('')})`;
  });
  return new RegExp(characters.join(''), 'gi');
}

/** A character before which no name and password go on, read from the `@` to the left. */
const BORDER = /[\s"'`<>(),/]/;
/** A host with a path: what follows a password in an address without a scheme, and neither a digest nor an e-mail. */
const HOST_WITH_PATH = /^[\w.-]+(?::\d+)?\//;

/** An address that was taken for a path has one slash only. */
const ONE_SLASH = /(?:https?|ssh):\/$/;

/** A text in which no address has a name or password: `https://***@quay.io/…`, and the same without a scheme. */
export function withoutUserinfo(text: string): string {
  const parts = text.split('@');
  let rest = '';
  for (let i = 0; i < parts.length - 1; i++) {
    const part = parts[i] ?? '';
    // What stands before the `@`, back to the border of the address.
    let start = part.length;
    while (start > 0 && !BORDER.test(part.charAt(start - 1))) start--;
    const found = part.slice(start);
    // 7 characters: the longest that ONE_SLASH looks at.
    const hasSlashes =
      part.endsWith('//', start) || ONE_SLASH.test(part.slice(Math.max(0, start - 7), start));
    // `git@` is the name of everybody in addresses of ssh.
    const hasScheme = hasSlashes && found !== '' && found !== 'git';
    // What follows a slash is a part of a path.
    const isName = part.charAt(start - 1) !== '/';
    // With a scheme, any name; without one, NAME:PASSWORD before a host with a path.
    const isUserinfo =
      hasScheme || (isName && /^[^:]+:./s.test(found) && HOST_WITH_PATH.test(parts[i + 1] ?? ''));
    rest += isUserinfo ? `${part.slice(0, start)}***@` : `${part}@`;
    // A password may have an @, too.
    while (hasScheme && i + 2 < parts.length && !BORDER.test(parts[i + 1] ?? '')) i++;
  }
  return rest + (parts.at(-1) ?? '');
}

/** A URL without a name and a password, such as that of a clone in a job: what is attached to an image, or on a site, is public. */
export function publicUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === '' && url.password === '') return text;
  url.username = '';
  url.password = '';
  return url.href;
}
