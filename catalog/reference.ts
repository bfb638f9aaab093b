/**
 * Image references: parsed once, passed on as data.
 *
 * The grammar is that of containers/image (and so of opm and of nodes): Docker's, without
 * IPv6 hosts, and with Docker Hub's short names written out.
 *
 * @see https://github.com/containers/image/tree/main/docker/reference
 */

import type { Location } from './finding.ts';

/** `registry/repository:tag`. */
export interface TagReference {
  readonly kind: 'tag';
  /** Host, with its port where one is written; Docker Hub is `docker.io`. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
}

/** `registry/repository@algorithm:hex`; a tag beside it is kept but names nothing. */
export interface DigestReference {
  readonly kind: 'digest';
  readonly registry: string;
  readonly repository: string;
  readonly digest: string;
  readonly tag?: string;
}

export type Reference = TagReference | DigestReference;

/** Why a text is not a reference, in opm's words. */
export class InvalidReference extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidReference';
  }
}

const DOCKER_HUB = 'docker.io';
const DOCKER_HUB_BEFORE = 'index.docker.io';
/** Hosts of Docker Hub: the name in references, the one of before, and the one of its API. */
export const DOCKER_HUB_HOSTS: ReadonlySet<string> = new Set([
  DOCKER_HUB,
  DOCKER_HUB_BEFORE,
  'registry-1.docker.io',
]);
const OFFICIAL = 'library/';
const MAX_NAME = 255;

const HOST_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOST = `${HOST_PART}(?:\\.${HOST_PART})*(?::[0-9]+)?`;
// As in the grammar, but no hyphens between two parts is not a separator: otherwise one text
// could be divided in exponentially many ways.
const PATH_PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const PATH = `${PATH_PART}(?:/${PATH_PART})*`;
const NAME = `(?:${HOST}/)?${PATH}`;
const TAG = '[\\w][\\w.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';

/** Docker's grammar with its parts captured: name, tag, digest; nothing is normalised. */
export const REFERENCE: RegExp = new RegExp(`^(${NAME})(?::(${TAG}))?(?:@(${DIGEST}))?$`);
/** A repository without its registry. */
export const REPOSITORY: RegExp = new RegExp(`^${PATH}$`);
const WITH_HOST = new RegExp(`^(${HOST})/(.+)$`);
const IDENTIFIER = /^[a-f0-9]{64}$/;
/** How many hexadecimal digits a digest has, by algorithm. */
export const DIGEST_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

/**
 * Reads a reference; without tag and digest it means the tag `latest`.
 *
 * @throws InvalidReference with opm's message
 */
export function parseReference(text: string): Reference {
  if (IDENTIFIER.test(text)) {
    throw new InvalidReference(
      `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`,
    );
  }
  const [host, rest] = splitHost(text);
  const path = rest.split(':', 1)[0] ?? '';
  if (path.toLowerCase() !== path) {
    throw new InvalidReference('invalid reference format: repository name must be lowercase');
  }
  // A line break before the end would pass `$` in Go, not here; both refuse it.
  const match = REFERENCE.exec(`${host}/${rest}`);
  const name = match?.[1];
  if (!match || name === undefined) throw new InvalidReference('invalid reference format');
  if (name.length > MAX_NAME)
    throw new InvalidReference('repository name must not be more than 255 characters');
  const split = WITH_HOST.exec(name);
  const registry = split?.[1] ?? '';
  const repository = split?.[2] ?? name;
  const tag = match[2];
  const digest = match[3];
  if (digest === undefined) return { kind: 'tag', registry, repository, tag: tag ?? 'latest' };
  checkDigest(digest);
  return { kind: 'digest', registry, repository, digest, ...(tag === undefined ? {} : { tag }) };
}

/** The reference, or undefined when the text is none. */
export function tryParseReference(text: string): Reference | undefined {
  try {
    return parseReference(text);
  } catch (error) {
    if (error instanceof InvalidReference) return undefined;
    throw error;
  }
}

/**
 * Splits as Docker does: a first part is a host only if it has a dot or a port, or is `localhost`; other names are on
 * Docker Hub.
 */
function splitHost(text: string): [host: string, rest: string] {
  const slash = text.indexOf('/');
  const first = slash < 0 ? '' : text.slice(0, slash);
  let host = DOCKER_HUB;
  let rest = text;
  if (first === DOCKER_HUB_BEFORE) rest = text.slice(slash + 1);
  else if (first === 'localhost' || /[.:]/.test(first)) {
    host = first;
    rest = text.slice(slash + 1);
  }
  if (host === DOCKER_HUB && !rest.includes('/')) rest = OFFICIAL + rest;
  return [host, rest];
}

/**
 * Checks the algorithm and the length of a digest such as `sha256:…`.
 *
 * @throws InvalidReference
 */
export function checkDigest(digest: string): void {
  const colon = digest.indexOf(':');
  const hex = digest.slice(colon + 1);
  const length = DIGEST_LENGTHS.get(digest.slice(0, colon));
  if (length === undefined) throw new InvalidReference('unsupported digest algorithm');
  if (hex.length !== length) throw new InvalidReference('invalid checksum digest length');
  if (!/^[a-f0-9]+$/.test(hex)) throw new InvalidReference('invalid checksum digest format');
}

/**
 * A registry, equal for all spellings of it: hosts are the same in any case, ports with zeros in front, and 443 is the port
 * of HTTPS.
 */
export function oneRegistry(registry: string): string {
  const host = registry.toLowerCase().replace(/:0*443$|(?<=:)0+(?=\d+$)/, '');
  return DOCKER_HUB_HOSTS.has(host) ? DOCKER_HUB : host;
}

/** `registry/repository`, without tag or digest. */
export function repositoryName(reference: Pick<Reference, 'registry' | 'repository'>): string {
  return reference.registry === '' ? reference.repository : `${reference.registry}/${reference.repository}`;
}

/** The reference in full: registry always, digest where there is one, else the tag. */
export function formatReference(reference: Reference): string {
  const name = repositoryName(reference);
  if (reference.kind === 'tag') return `${name}:${reference.tag}`;
  return reference.tag === undefined
    ? `${name}@${reference.digest}`
    : `${name}:${reference.tag}@${reference.digest}`;
}

/** A reference to the repository of another one, by digest. */
export function withDigest(reference: Reference, digest: string): DigestReference {
  return { kind: 'digest', registry: reference.registry, repository: reference.repository, digest };
}

/** `bundle`: what is installed; `related`: what it needs; `base`: what an index image is built on. */
export type SiteKind = 'bundle' | 'related' | 'base';

/** One place that names an image. */
export interface ReferenceSite {
  readonly kind: SiteKind;
  /** As it stands there. */
  readonly written: string;
  readonly reference: Reference;
  /** The package, or the empty string where the place belongs to none. */
  readonly package: string;
  /** Name of the bundle, or the empty string: templates do not know it yet. */
  readonly bundle: string;
  readonly location: Location;
}
