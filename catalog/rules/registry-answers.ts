/** Visits the replies of registries, place by place. */
import { type ReferenceSite, repositoryName, type SiteKind } from '../reference.ts';
import type { Lookup, ResolvedReferences } from '../references/lookup.ts';
import { lookupKey } from '../references/site.ts';
import { quoted } from './rule.ts';

/** Every place whose reference was looked up, with the answer. */
export function* sitesWithLookups({
  sites,
  lookups,
}: ResolvedReferences): Generator<{ readonly site: ReferenceSite; readonly lookup: Lookup }> {
  for (const site of sites) {
    const lookup = lookups.get(lookupKey(site.reference));
    if (lookup) yield { site, lookup };
  }
}

/**
 * Every place that names a digest which the lock has from a tag of the same repository. Of several tags of one digest the last
 * stands for all: which of them a place had is not kept.
 */
export function* lockedTags({ sites, lock }: Pick<ResolvedReferences, 'sites' | 'lock'>): Generator<{
  readonly site: ReferenceSite;
  /** In full, as in the lock. */
  readonly tag: string;
}> {
  const tags = new Map<string, string>();
  for (const [tag, digest] of lock?.digests ?? [])
    tags.set(`${tag.slice(0, tag.lastIndexOf(':'))}@${digest}`, tag);
  for (const site of sites) {
    if (site.reference.kind !== 'digest') continue;
    const tag = tags.get(`${repositoryName(site.reference)}@${site.reference.digest}`);
    if (tag !== undefined) yield { site, tag };
  }
}

const KINDS: Readonly<Record<SiteKind, string>> = {
  bundle: 'the image',
  related: 'the related image',
  base: 'the base image',
};

/** The image at a place, for a message: `bundle "b": the image "r"`. */
export function siteText({ kind, written, bundle }: ReferenceSite): string {
  return `${bundle === '' ? '' : `bundle ${quoted(bundle)}: `}${KINDS[kind]} ${quoted(written)}`;
}
