/**
 * Resolving: what registries say of every reference of catalogs, templates and composites; the
 * lock of it; pins in place of tags.
 */
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import {
  type DigestReference,
  type Reference,
  type ReferenceSite,
  type TagReference,
  tryParseReference,
} from '../../../catalog/reference.ts';
import { type Pin, pinReferences, type ReferenceLock } from '../../../catalog/references/lock.ts';
import type { Lookup, ResolvedReferences } from '../../../catalog/references/lookup.ts';
import { lookupKey, referenceSites, runsFor, type Support } from '../../../catalog/references/site.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { lockedTags } from '../../../catalog/rules/registry-answers.ts';
import { runResolved, type SeverityOf } from '../../../catalog/rules/rule.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import type { AttestationDemands, RepositoryMatcher, SignatureDemands } from '../../policy/registries.ts';
import type { Registry } from '../../ports.ts';
import { lookUp } from './look-up.ts';

interface ResolveRequest {
  readonly registry: Registry;
  /** What tags stood for before. */
  readonly lock?: ReferenceLock | undefined;
  /** Which registries may be asked; all when left out. */
  readonly allows?: RepositoryMatcher | undefined;
  /** Whether references by digest are looked up too, to see that they exist. */
  readonly digests?: boolean;
  /** Whether the images of packages are looked at for the platforms on which these say that they run. */
  readonly platforms?: boolean;
  /** Whether the lock takes what tags stand for now. */
  readonly update?: boolean;
  readonly severityOf?: SeverityOf;
  /** Whose signatures are demanded; nobody's when left out. */
  readonly signed?: SignatureDemands | undefined;
  /** Which external checks are demanded; none when left out. */
  readonly attested?: AttestationDemands | undefined;
}

/** That images of one registry could not be looked up: how many, and why the first of them. */
interface Unanswered {
  readonly registry: string;
  readonly why: string;
  /** What to do about it. */
  readonly hint?: string;
  readonly references: number;
}

export interface Resolution {
  readonly resolved: ResolvedReferences;
  /** The lock as it is to be now. */
  readonly lock: ReferenceLock;
  /** Of the rules about references, and what could not be read; the worst first. */
  readonly findings: readonly Finding[];
  /** Empty when every question was answered. */
  readonly unanswered: readonly Unanswered[];
}

/** Resolves every reference that catalogs or folders of templates name. */
export async function resolveReferences(
  catalogs: readonly CatalogSource[],
  request: ResolveRequest,
): Promise<Resolution> {
  const read = await Promise.all(
    catalogs.map((source) => referenceSites(source, { supports: request.platforms === true })),
  );
  const sites = read.flatMap((one) => one.sites);
  const supports = new Map(read.flatMap((one) => [...one.supports]));
  const resolution = await resolveSites(sites, { ...request, ...(request.platforms ? { supports } : {}) });
  const unread = read.flatMap(({ findings }) => findings);
  return { ...resolution, findings: [...unread, ...resolution.findings].sort(compareFindings) };
}

/** Resolves the images at places that are known already: those of the bundles that a pull request touches. */
export async function resolveSites(
  sites: readonly ReferenceSite[],
  request: Omit<ResolveRequest, 'platforms'> & {
    /** By package, on which platforms its images must run; only these are looked at for that. */
    readonly supports?: ReadonlyMap<string, Support>;
  },
): Promise<Resolution> {
  const { lock, severityOf, update = false, supports = new Map<string, Support>() } = request;
  const platformSites = sites.filter((site) => runsFor(site, supports));
  const platforms = new Set(platformSites.map(({ reference }) => lookupKey(reference)));
  const references = [
    ...wantedReferences(sites, request),
    ...platformSites.map(({ reference }) => reference),
  ];
  const lookups = await lookUp(references, { ...request, platforms });
  const resolved: ResolvedReferences = { sites, lookups, lock, supports };
  return {
    resolved,
    lock: nextLock(resolved, update),
    findings: runResolved(resolved, RULES, severityOf),
    unanswered: unansweredOf(resolved),
  };
}

/** The references to look up: every tag, tags from which digests were pinned, and digests if these are asked for. */
function* wantedReferences(
  sites: readonly ReferenceSite[],
  { lock, digests = false, signed, attested }: ResolveRequest,
): Generator<Reference> {
  for (const { reference } of sites) {
    const isDemanded = signed?.(reference) !== undefined || (attested?.(reference).length ?? 0) > 0;
    if (digests || reference.kind === 'tag' || isDemanded) yield reference;
  }
  for (const { tag } of lockedTags({ sites, lock })) {
    const reference = tryParseReference(tag);
    if (reference) yield reference;
  }
}

/** Why a reference was not looked up, without the rest of its result. */
function reasonOf({ why, hint }: Extract<Lookup, { kind: 'unknown' }>): Pick<Unanswered, 'why' | 'hint'> {
  return { why, ...(hint === undefined ? {} : { hint }) };
}

/** Counts, for each registry, the references that it did not answer. One reason is given for all of them. */
function unansweredOf({ lookups }: ResolvedReferences): Unanswered[] {
  const byRegistry = new Map<string, Omit<Unanswered, 'references'> & { references: number }>();
  for (const [key, lookup] of lookups) {
    if (lookup.kind !== 'unknown') continue;
    // A `lookupKey` is a reference in full, which begins with its registry.
    const registry = key.slice(0, key.indexOf('/'));
    const known = byRegistry.get(registry) ?? { ...reasonOf(lookup), registry, references: 0 };
    known.references++;
    byRegistry.set(registry, known);
  }
  return [...byRegistry.values()];
}

// From what was looked up to what is written: the next lock, and the pins of each file.

/**
 * The lock of what is named now. What was locked stays so, that nothing moves by itself; tags
 * that nobody names any more are left out.
 *
 * @param update take what tags stand for now
 */
function nextLock(resolved: ResolvedReferences, update: boolean): ReferenceLock {
  const { sites, lookups, lock } = resolved;
  const digests = new Map<string, string>();
  const add = (tag: string): void => {
    const lookup = lookups.get(tag);
    const found = lookup?.kind === 'found' ? lookup.digest : undefined;
    const locked = lock?.digests.get(tag);
    const digest = update ? (found ?? locked) : (locked ?? found);
    if (digest !== undefined) digests.set(tag, digest);
  };
  for (const { reference } of sites) if (reference.kind === 'tag') add(lookupKey(reference));
  for (const { tag } of lockedTags(resolved)) add(tag);
  return { digests };
}

/** The pins that a lock means, by file: digests for tags, and newer digests for those that came from a tag. */
export function pinsByFile(
  resolved: ResolvedReferences,
  { digests }: ReferenceLock,
): ReadonlyMap<string, readonly Pin[]> {
  const pins = new Map<string, Pin[]>();
  for (const { reference, written, location } of resolved.sites) {
    if (reference.kind !== 'tag') continue;
    const digest = digests.get(lookupKey(reference));
    if (digest === undefined) continue;
    const { file, line, column } = location;
    const pinned = pinnedTag(written, reference, digest);
    appendToGroup(pins, file, { line, column, written, pinned, note: reference.tag });
  }
  for (const { site, tag } of lockedTags(resolved)) {
    const digest = digests.get(tag);
    const { reference, written, location } = site;
    if (digest === undefined || reference.kind !== 'digest' || digest === reference.digest) continue;
    const { file, line, column } = location;
    const pinned = movedDigest(written, reference, digest);
    // No note: the comment with the tag stays from when its digest was first written.
    appendToGroup(pins, file, { line, column, written, pinned, note: '' });
  }
  return pins;
}

/** The reference as people wrote it, but for the tag: short names stay short. */
function pinnedTag(written: string, { tag }: TagReference, digest: string): string {
  const name = written.endsWith(`:${tag}`) ? written.slice(0, -tag.length - 1) : written;
  return `${name}@${digest}`;
}

/** The reference as people wrote it, with another digest at its end. */
function movedDigest(written: string, reference: DigestReference, digest: string): string {
  return written.slice(0, -reference.digest.length) + digest;
}

/** A file with its pins; `findings` name the places that could not be pinned. */
export function pinFile(
  file: string,
  text: string,
  pins: readonly Pin[],
): { readonly text: string; readonly findings: readonly Finding[] } {
  const pinned = pinReferences(text, pins);
  const findings = pinned.refused.map(({ line, column, written, pinned: wanted }): Finding => {
    const message = `${JSON.stringify(written)} cannot be pinned in place: it spans several lines or contains escapes`;
    return {
      rule: 'image/digest',
      severity: 'warning',
      message,
      location: { file, line, column },
      hint: `write ${wanted}`,
    };
  });
  return { text: pinned.text, findings };
}
