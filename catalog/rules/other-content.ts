/** Other content that has, or once had, the name of a new bundle: names last for ever. */
import type { Bundle } from '../fbc/model.ts';
import { minorOfCatalog } from '../fbc/openshift.ts';
import type { Change, Publication, World } from '../olm/foresight/world.ts';
import { tryParseReference } from '../reference.ts';
import { type ImageChange, imageChange, type TagDigests } from '../references/same-image.ts';
import { formatVersion, type Version } from '../version/version.ts';

/** Content of the same name that differs. */
interface OtherContent {
  readonly publication: Publication;
  /** The difference, such as `image A instead of B`. */
  readonly text: string;
  /** The part of the bundle that differs. */
  readonly path: readonly string[];
  /** Whether a registry or a lock may show that nothing differs. */
  readonly isUnconfirmed: boolean;
  /** Whether its catalog had other bundles under the same names before, and so is a product line of its own. */
  readonly isOfOtherLine?: true;
}

/**
 * Content that differs from that of a bundle which a catalog gets: what the catalog itself had before, or what another
 * catalog has, had, or gets at the same time. Where catalogs differ already and one of them has the same, nothing is news.
 */
export function otherContent({ before, after }: Change, bundle: Bundle): OtherContent | undefined {
  const names = { package: bundle.package, bundle: bundle.name };
  const known = before.publications(names);
  const own = known.filter(({ catalog }) => catalog === before.name);
  const others = latestOf(known.filter(({ catalog }) => catalog !== before.name)).filter(
    (one) => !becomesSameBundle(one, bundle, after),
  );
  // The catalog gets back a bundle that it had: its difference from others is not new.
  if (own.some((one) => compare(one, bundle, (a, b) => imageChange(a, b, before.digests)) === 'same'))
    return undefined;
  const compared = (all: readonly Publication[], changeOf: CompareImages): OtherContent[] => {
    const found = all.map((one) => compare(one, bundle, (a, b) => changeOf(a, b, before.digests)));
    return found.includes('same') ? [] : found.flatMap((one) => (typeof one === 'object' ? [one] : []));
  };
  // Of another catalog only what surely differs counts: a tag of a new bundle cannot be looked up.
  const elsewhere = [others, newElsewhere(after.publications(names), after.name, others)];
  const isSure = ({ isUnconfirmed }: OtherContent): boolean => !isUnconfirmed;
  const found = elsewhere.flatMap((all) => compared(all, changeElsewhere).filter(isSure));
  const isOtherLine = otherProductLines(before, bundle.package);
  // A bundle that is rebuilt until its release is the same in all catalogs.
  const isRebuilt =
    before.rebuildsHeads &&
    others.some((one) => one.last === undefined && imageChange(one.image, bundle.image) === 'same');
  return (
    (isRebuilt ? undefined : compared(own, imageChange)[0]) ??
    found.find(({ publication }) => !isOtherLine(publication.catalog)) ??
    found.map((one) => ({ ...one, isOfOtherLine: true as const }))[0]
  );
}

/**
 * Whether another catalog gets the same bundle in the same change. Then the change itself is reported, not the
 * difference.
 */
function becomesSameBundle(other: Publication, bundle: Bundle, { publications, digests }: World): boolean {
  const isSame = (one: Publication): boolean =>
    compare(one, bundle, (a, b) => changeElsewhere(a, b, digests)) === 'same';
  const { catalog, last } = other;
  return (
    last === undefined &&
    !isSame(other) &&
    publications({ package: bundle.package, bundle: bundle.name }).some(
      (now) => now.catalog === catalog && now.last === undefined && isSame(now),
    )
  );
}

/** The content in each catalog, or the last content if it has none any more. */
function latestOf(all: readonly Publication[]): Publication[] {
  return all.filter((one, i) => all.findIndex(({ catalog }) => catalog === one.catalog) === i);
}

/**
 * Finds the catalogs of other product lines: those that already have another image for a bundle of the same name. A catalog
 * of one platform version and a catalog of another are never two lines, because clusters move from one to the other.
 */
function otherProductLines(before: World, name: string): (catalog: string) => boolean {
  const bundles = [...(before.catalog.packages.get(name)?.bundles.values() ?? [])];
  const isOther = ({ image }: Publication, own: Bundle): boolean =>
    image !== '' && changeElsewhere(image, own.image, before.digests) === 'other';
  const isOfPlatform = (catalog: string): boolean => minorOfCatalog(catalog) !== undefined;
  return (catalog) => {
    if (isOfPlatform(catalog) && isOfPlatform(before.name)) return false;
    return bundles.some((own) =>
      before.publications({ package: name, bundle: own.name }).some((one) => {
        // A bundle with a last day is gone.
        const isThere = one.catalog === catalog && one.last === undefined;
        return isThere && isOther(one, own);
      }),
    );
  };
}

/** The content that earlier catalogs get at the same time: only the later of two reports the difference. */
function newElsewhere(
  all: readonly Publication[],
  own: string,
  known: readonly Publication[],
): readonly Publication[] {
  const had = new Set(known.map(({ catalog }) => catalog));
  const at = all.findIndex(({ catalog }) => catalog === own);
  return all
    .slice(0, Math.max(at, 0))
    .filter(({ catalog, bundle, last }) => bundle && last === undefined && !had.has(catalog));
}

/** Compares the image of what was published with that of a new bundle. */
type CompareImages = (published: string, fresh: string, digests: TagDigests) => ImageChange;

/**
 * How the image of another catalog and that of a new bundle differ. If theirs has a tag and ours a digest, `digests` may
 * know the tag. It never knows the tag of a new bundle: then a tag and a digest may be the same image.
 */
function changeElsewhere(theirs: string, ours: string, digests: TagDigests): ImageChange {
  const [their, our] = [tryParseReference(theirs), tryParseReference(ours)];
  if (their?.kind === 'digest' && our?.kind === 'tag') return 'unconfirmed';
  // A tag may be copied to another registry, but not renamed.
  if (their?.kind === 'tag' && our?.kind === 'tag' && their.tag === our.tag && theirs !== ours)
    return 'unconfirmed';
  return imageChange(theirs, ours, digests);
}

/** How a bundle differs from what was published under its name; undefined if too little of that is known. */
function compare(
  publication: Publication,
  bundle: Bundle,
  changeOf: (published: string, fresh: string) => ImageChange,
): OtherContent | 'same' | undefined {
  const { image, version } = publication;
  const change = image === '' ? undefined : changeOf(image, bundle.image);
  if (change === 'other' || change === 'unconfirmed') {
    const text = `image ${bundle.image || 'none'} instead of ${image}`;
    return { publication, text, path: ['image'], isUnconfirmed: change === 'unconfirmed' };
  }
  const [was, is] = [textOf(version), textOf(bundle.version)];
  if (was !== '' && is !== '' && was !== is)
    return {
      publication,
      text: `version ${is} instead of ${was}`,
      path: ['properties'],
      isUnconfirmed: false,
    };
  return change;
}

function textOf(version: Version | undefined): string {
  return version ? formatVersion(version) : '';
}
