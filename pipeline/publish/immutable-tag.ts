/**
 * The tag that an image keeps: `v4.20-20261123101500-0123456789ab`, the published tag with the commit's time and id,
 * as Go writes pseudo-versions. Sorted by name, the tags of a catalog are sorted by time.
 */
import { formatReference, type TagReference } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import type { Manifest, Registry } from '../ports.ts';

/** What is behind the published tag: time in UTC, the commit, and the digest where the commit has several images. */
const VERSION = /-(\d{14}-[0-9a-f]{12}(?:-[0-9a-f]{8})?)$/;
/** Characters of a tag, at most. */
const LONGEST = 128;

/**
 * What names a commit's images in their immutable tags: its time in UTC and the start of its id. Whoever
 * makes a commit may name any time: one from the future would be the newest for ever, and have the images of
 * all later commits deleted as old ones. So it counts as now.
 *
 * @param time of the commit, in seconds since 1970
 * @param now in ms since 1970
 */
export function versionOf({ id, time }: { readonly id: string; readonly time: number }, now: number): string {
  const committed = Number.isInteger(time) && time >= 0 ? time * 1000 : 0;
  // `2026-11-23T10:15:00.000Z` as `20261123101500`.
  const date = new Date(Math.min(committed, now)).toISOString().replace(/\D/g, '').slice(0, 14);
  return `${date}-${id.slice(0, 12)}`;
}

/** The immutable tag of a version beside a published tag. A long tag is cut: the version has to fit behind it. */
export function immutableTag(tag: string, version: string): string {
  const suffix = `-${version}`;
  return `${tag.slice(0, LONGEST - suffix.length)}${suffix}`;
}

/** The version that an immutable tag of a published tag names; undefined for every other tag. */
export function versionIn(tag: string, published: string): string | undefined {
  const version = VERSION.exec(tag)?.[1];
  return version !== undefined && tag === immutableTag(published, version) ? version : undefined;
}

/**
 * Names an image by its immutable tag. The tag is never moved: an image of the same commit with another digest (its
 * base image has changed) gets a tag with its digest.
 *
 * @param published the tag that moves; the image is in its repository
 * @returns the tag's reference
 */
export async function tagForGood(
  registry: Registry,
  published: TagReference,
  { manifest, version }: { readonly manifest: Manifest; readonly version: string },
): Promise<string> {
  const digest = manifest.digest.slice('sha256:'.length, 'sha256:'.length + 8);
  for (const one of [version, `${version}-${digest}`]) {
    const reference = { ...published, tag: immutableTag(published.tag, one) };
    const found = await registry.resolve(reference);
    if (!found) await registry.putManifest(reference, manifest);
    if (!found || found.digest === manifest.digest) return formatReference(reference);
  }
  throw new PipelineError(
    'conflict',
    `the immutable tag ${immutableTag(published.tag, `${version}-${digest}`)} names another image`,
    { hint: 'somebody moved the tag: delete it, then publish again' },
  );
}
