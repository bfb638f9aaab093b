/** From what was looked up to what is written: the next lock, and the pins of each file. */
import type { Finding } from '../../../catalog/finding.ts';
import type { DigestReference, TagReference } from '../../../catalog/reference.ts';
import { type Pin, pinReferences, type ReferenceLock } from '../../../catalog/references/lock.ts';
import type { ResolvedReferences } from '../../../catalog/references/lookup.ts';
import { lookupKey } from '../../../catalog/references/site.ts';
import { lockedTags } from '../../../catalog/rules/registry-answers.ts';

/**
 * The lock of what is named now. What was locked stays so, that nothing moves by itself; tags
 * that nobody names any more are left out.
 *
 * @param update take what tags stand for now
 */
export function nextLock(resolved: ResolvedReferences, update: boolean): ReferenceLock {
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
  const add = (file: string, pin: Pin): void => {
    const known = pins.get(file);
    if (known) known.push(pin);
    else pins.set(file, [pin]);
  };
  for (const { reference, written, location } of resolved.sites) {
    if (reference.kind !== 'tag') continue;
    const digest = digests.get(lookupKey(reference));
    if (digest === undefined) continue;
    const { file, line, column } = location;
    add(file, { line, column, written, pinned: pinnedTag(written, reference, digest), note: reference.tag });
  }
  for (const { site, tag } of lockedTags(resolved)) {
    const digest = digests.get(tag);
    const { reference, written, location } = site;
    if (digest === undefined || reference.kind !== 'digest' || digest === reference.digest) continue;
    const { file, line, column } = location;
    add(file, { line, column, written, pinned: movedDigest(written, reference, digest), note: '' });
  }
  return pins;
}

/** The reference as people wrote it, but for the tag: short names stay short. */
function pinnedTag(written: string, { tag }: TagReference, digest: string): string {
  const name = written.endsWith(`:${tag}`) ? written.slice(0, -tag.length - 1) : written;
  return `${name}@${digest}`;
}

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
