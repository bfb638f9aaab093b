/**
 * Which network addresses may be talked to. A catalog, a token realm or a redirect can name
 * any host; what the name resolves to is looked at, on every connection, and only an address
 * that has been looked at is connected to (no second look-up, so no DNS rebinding).
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { PipelineError } from '../../../error.ts';

/** Hosts (`name`, `name:port`) and address ranges (`10.0.0.0/8`) that may be internal. */
export interface AddressRule {
  /** Whether a connection for `host` (name and port) may go to an address. */
  allows(host: string, address: string): boolean;
}

/** How names become addresses: `node:dns` except in tests. */
export type Resolver = (name: string) => Promise<readonly LookupAddress[]>;

/** Ranges that are not of the public internet, by the registries of IANA above, and addresses of clouds' own services. */
const INTERNAL_V4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared address space; 100.100.100.200 is a cloud's metadata service
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a cloud's host agent on a public number
  '169.254.0.0/16', // link-local; 169.254.169.254 is the metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; 192.0.0.192 is a cloud's metadata service
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4, deprecated
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];
const INTERNAL_V6 = [
  '::/96', // unspecified, loopback, IPv4-compatible
  '64:ff9b:1::/48', // local translation
  '100::/64', // discard
  '100:0:0:1::/64', // dummy prefix
  '2001::/23', // protocol assignments; 2001::/32 is Teredo, which carries any IPv4 address
  '2001:db8::/32', // documentation
  '3fff::/20', // documentation
  '5f00::/16', // segment routing
  'fc00::/7', // unique local; fd00:ec2::254 is a metadata service
  'fe80::/10', // link-local
  'fec0::/10', // site-local, deprecated and still routed by some
  'ff00::/8', // multicast
];
const INTERNAL = rangeList([...INTERNAL_V4, ...INTERNAL_V6]);

/** Prefixes of IPv6 that carry an IPv4 address, and the index of its first 16-bit group. */
const EMBEDDED_V4: readonly { readonly prefix: readonly number[]; readonly at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 }, // mapped
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 }, // translated
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 }, // NAT64
  { prefix: [0x2002], at: 1 }, // 6to4
];

/** Whether an address is private, link-local, loopback or otherwise not of the public internet. */
export function isInternal(address: string): boolean {
  // Without the zone of a link-local address, `fe80::1%eth0`. What is not an address is refused.
  const plain = address.split('%', 1)[0] ?? '';
  if (isIP(plain) === 4) return INTERNAL.check(plain, 'ipv4');
  if (isIP(plain) !== 6) return true;
  const embedded = embeddedV4(plain);
  return embedded === undefined ? INTERNAL.check(plain, 'ipv6') : INTERNAL.check(embedded, 'ipv4');
}

/**
 * The IPv4 address in an IPv6 address; undefined where it carries none. Connections go there, so that one is
 * what must be checked.
 */
function embeddedV4(address: string): string | undefined {
  const groups = groupsOf(address);
  for (const { prefix, at } of EMBEDDED_V4) {
    if (!prefix.every((group, i) => groups[i] === group)) continue;
    const high = groups[at] ?? 0;
    const low = groups[at + 1] ?? 0;
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  return undefined;
}

/** The eight 16-bit groups of an IPv6 address; `new URL` writes every valid spelling in one way. `::` stands for the zeros. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const read = (text: string): number[] => (text === '' ? [] : text.split(':').map((g) => parseInt(g, 16)));
  const before = read(head);
  const after = tail === undefined ? [] : read(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/** A list of ranges to look addresses up in; an address without a length is a range of its own. */
function rangeList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const isV6 = isIP(range.split('/', 1)[0] ?? '') === 6;
    const [address = '', bits = isV6 ? 128 : 32] = range.split('/');
    list.addSubnet(address, Number(bits), isV6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/**
 * The rule that refuses internal addresses except for the hosts and ranges named.
 *
 * @param internal `registry.corp.example`, `localhost:5000`, `10.1.0.0/16`, `::1`; a name without
 *   a port stands for all its ports
 */
export function addressRule(internal: readonly string[]): AddressRule {
  const isRange = (text: string): boolean => isIP(text.split('/', 1)[0] ?? '') !== 0;
  const ranges = rangeList(internal.filter(isRange));
  const hosts = new Set(internal.filter((text) => !isRange(text)).map((text) => text.toLowerCase()));
  return {
    allows: (host, address) =>
      !isInternal(address) ||
      hosts.has(host.toLowerCase()) ||
      hosts.has(withoutPort(host).toLowerCase()) ||
      ranges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  };
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

/** The host of a URL with its port, which a URL leaves out where it is the usual one. */
export function hostAndPort({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`;
}

/** The host of a URL when it is written as an address, without the brackets of IPv6. */
function literalAddress(url: URL): string | undefined {
  const name = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return isIP(name) === 0 ? undefined : name;
}

/**
 * Refuses URLs with an address in the place of a name, if the address is refused.
 *
 * @throws PipelineError `not-allowed` when a URL names an address that is refused
 */
export function checkLiteral(rule: AddressRule, url: URL): void {
  const address = literalAddress(url);
  if (address !== undefined && !rule.allows(hostAndPort(url), address)) throw refusedHost(url.host);
}

/** The error for a host that resolves to nothing but refused addresses. */
export function refusedHost(host: string): PipelineError {
  return new PipelineError('not-allowed', `${host} is on an internal network`, {
    remedy: { kind: 'internal', host },
  });
}

export const systemResolver: Resolver = (name) =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/** A `lookup` for `node:net` that hands on only addresses that the rule allows for the host of a URL. */
export function guardedLookup(rule: AddressRule, url: URL, resolver: Resolver): LookupFunction {
  return (name, options, callback) => {
    resolver(name).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => rule.allows(hostAndPort(url), address));
        const first = allowed[0];
        if (first === undefined) callback(refusedHost(url.host), '', 0);
        else if (options.all === true) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}
