/**
 * Which proxy a request goes through, by the usual environment variables. They come as data:
 * whoever starts the client reads its environment once.
 *
 * @see https://pkg.go.dev/golang.org/x/net/http/httpproxy whose rules every Go tool follows
 */
import { BlockList, isIP } from 'node:net';
import { PipelineError } from '../../../error.ts';
import { keepAuthorization } from '../../../secrets.ts';

/** The variables as they are; the lower-case name counts before the upper-case one. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for a URL; undefined means to connect directly. */
export type ProxyChoice = (url: URL) => URL | undefined;

/**
 * Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
 *
 * @throws PipelineError `usage` for a proxy that is not an http or https URL
 */
export function proxiesFrom(environment: Environment): ProxyChoice {
  const variable = (name: string): string => environment[name] || environment[name.toUpperCase()] || '';
  const proxyOf = (name: string): URL | undefined => {
    const source = variable(name) === '' ? 'all_proxy' : name;
    return proxyUrl(source, variable(source));
  };
  const proxies: Readonly<Record<string, URL | undefined>> = {
    'http:': proxyOf('http_proxy'),
    'https:': proxyOf('https_proxy'),
  };
  const direct = directHosts(variable('no_proxy'));
  return (url) => (direct(url) ? undefined : proxies[url.protocol]);
}

/**
 * The proxy that a variable names; undefined for none. As for other tools, a text without a scheme is a host
 * over HTTP.
 */
function proxyUrl(name: string, text: string): URL | undefined {
  if (text === '') return undefined;
  const full = text.includes('://') ? text : `http://${text}`;
  // The text may hold a password: it is not repeated.
  if (!URL.canParse(full) || !/^https?:/.test(full))
    throw new PipelineError('usage', `${name} is not an http:// or https:// URL`);
  const proxy = new URL(full);
  try {
    proxyAuthorization(proxy);
  } catch {
    throw new PipelineError('usage', `${name} has a user name or password with a % that escapes nothing`, {
      hint: 'write a % as %25',
    });
  }
  return proxy;
}

/** What tells whether `no_proxy` names a URL's host; loopback never goes through a proxy. */
function directHosts(text: string): (url: URL) => boolean {
  const entries = text
    .toLowerCase()
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  // `*` switches proxies off.
  if (entries.includes('*')) return () => true;
  const ranges = new BlockList();
  const names: NameEntry[] = [];
  for (const entry of entries) if (!addRange(ranges, entry)) names.push(nameEntry(entry));
  return (url) => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (host === 'localhost' || isAmong(LOOPBACK, host) || isAmong(ranges, host)) return true;
    const urlPort = url.port || (url.protocol === 'https:' ? '443' : '80');
    const isNamed = ({ name, onlyBelow }: NameEntry): boolean =>
      host.endsWith(`.${name}`) || (!onlyBelow && host === name);
    return names.some((entry) => (entry.port === '' || entry.port === urlPort) && isNamed(entry));
  };
}

/** Whether a host is an address of a list; false for a name. */
function isAmong(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** A name in `no_proxy`. */
interface NameEntry {
  readonly name: string;
  /** Empty for any port. */
  readonly port: string;
  /** Whether it stands only for what is below the name. */
  readonly onlyBelow: boolean;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Adds an entry that is an address or a range. @returns false for an entry that is neither, and so a name */
function addRange(ranges: BlockList, entry: string): boolean {
  const [address = '', bits] = entry.replace(/^\[|\]$/g, '').split('/');
  const family = isIP(address);
  if (family === 0) return false;
  const most = family === 6 ? 128 : 32;
  const length = bits === undefined ? most : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > most) return false;
  ranges.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
  return true;
}

/** `example.com` stands for itself and all below it, `.example.com` and `*.example.com` for what is below. */
function nameEntry(entry: string): NameEntry {
  const [, host = entry, port = ''] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  const name = host.replace(/^\*?\./, '');
  // An address of IPv6 with a port has brackets, which the host of a URL is compared without.
  return { name: name.replace(/^\[|\]$/g, ''), port, onlyBelow: name !== host };
}

/** The `Proxy-Authorization` header for a proxy whose URL holds a name and a password. */
export function proxyAuthorization(proxy: URL): string | undefined {
  if (proxy.username === '' && proxy.password === '') return undefined;
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const header = `Basic ${Buffer.from(pair).toString('base64')}`;
  keepAuthorization(header);
  return header;
}
