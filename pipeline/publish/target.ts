/** The places where a catalog is published: those of the request, else those of the policy. */
import { formatReference, repositoryName } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { BUILD_DEFAULTS, type BuildOptions } from '../oci/image/build.ts';
import type { Codec } from '../oci/image/compress.ts';
import {
  formatLocation,
  type ImageLocation,
  oneSpelling,
  parseLocation,
} from '../oci/registry/image-location.ts';
import { type Policy, type Ring, type PublishTarget as WrittenTarget, withTag } from '../policy/policy.ts';
import type { Platform } from '../ports.ts';
import { matchesGlob } from '../text.ts';

/** What was asked for; the policy of the commit fills in what was not. */
export interface PublishChoices {
  /** A reference, `oci:DIR` or another place. */
  readonly to?: string | undefined;
  /** Further tags and places of the same image; in place of the policy's. */
  readonly also?: readonly string[] | undefined;
  /** The place of the image for OLM v1 alone. */
  readonly slim?: string | undefined;
  /** Whether no tag is moved: the image is then known by its digest only. */
  readonly untagged?: boolean | undefined;
  readonly cache?: BuildOptions['cache'] | undefined;
  readonly compression?: Codec | undefined;
  /** In place of the policy's. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** What clusters call the image, where it is not pushed to a registry itself. */
  readonly as?: string | undefined;
  readonly base?: string | undefined;
  /** `REGISTRY[/PATH]`. */
  readonly mirrorTo?: string | undefined;
}

export interface PublishTarget {
  readonly to: ImageLocation;
  /** The place as it was written; without a tag where none is moved. */
  readonly name: string;
  readonly also: readonly ImageLocation[];
  readonly slim: ImageLocation | undefined;
  readonly untagged: boolean;
  /** Whether the image gets a tag of its own that never moves, in every registry. */
  readonly immutableTags: boolean;
  /** How many images with immutable tags stay in a registry; all when undefined. */
  readonly keep: number | undefined;
  /** What is put beside the image. */
  readonly attest: WrittenTarget['attest'];
  readonly settings: Pick<BuildOptions, 'cache' | 'codec' | 'labels' | 'platforms'>;
  /** What clusters call the image; undefined for a directory that nobody named. */
  readonly reference: string | undefined;
  readonly base: ImageLocation | undefined;
  readonly mirrorTo: string | undefined;
  /** The tags that an image reaches one after the other, the one that a publish moves first; empty without rings. */
  readonly rings: readonly RingPlace[];
}

/** A ring of a catalog. */
export interface RingPlace extends Ring {
  readonly place: ImageLocation;
  /** The place as `formatLocation` writes it. */
  readonly name: string;
}

/**
 * Where a catalog is published to, and how.
 *
 * @throws PipelineError `usage` when nobody says where to, or what is said cannot be read
 */
export function targetOf({ publish }: Policy, catalog: string, choices: PublishChoices): PublishTarget {
  const policyTarget = publish.catalogs.find(({ pattern }) => matchesGlob(pattern, catalog));
  const rings = choices.to === undefined && !choices.untagged ? ringsOf(policyTarget, catalog) : [];
  // A publish moves the first ring. Its name hides `also` and `slim`, which a policy with rings may not have.
  const chosen = chosenPlaces(policyTarget, catalog, { ...choices, to: choices.to ?? rings[0]?.name });
  const to = taggedPlace(chosen.to);
  const also = chosen.also.map(taggedPlace);
  const slim = chosen.slim === undefined ? undefined : taggedPlace(chosen.slim);
  const untagged = choices.untagged ?? false;
  if (untagged) for (const place of [to, ...also, slim]) refuseUntagged(place);
  const name = untagged ? withoutTag(to) : formatLocation(to);
  const reference = to.kind === 'registry' ? formatLocation(to) : chosen.as;
  // Whoever names the place names all of its tags, and deletes none.
  const isPolicyPlace = !untagged && choices.to === undefined;
  const mirrorTo = choices.mirrorTo ?? policyTarget?.mirrorTo;
  if (mirrorTo !== undefined && reference === undefined) {
    throw new PipelineError('usage', `the mirror's documents need the name of the image in ${name}`, {
      hint: 'pass the name that clusters use: --as REFERENCE',
    });
  }
  return {
    to,
    name,
    also,
    slim,
    untagged,
    immutableTags: isPolicyPlace && (policyTarget?.immutableTags ?? false),
    keep: isPolicyPlace ? policyTarget?.keep : undefined,
    attest: policyTarget?.attest ?? [],
    settings: settingsOf(policyTarget, choices),
    reference,
    base: chosen.base === undefined ? undefined : parseLocation(chosen.base),
    mirrorTo,
    rings,
  };
}

/** The rings that a policy gives a catalog, each as a tag beside the image's place. */
function ringsOf(policyTarget: WrittenTarget | undefined, catalog: string): RingPlace[] {
  if (!policyTarget) return [];
  return policyTarget.rings.map((ring) => {
    const place = taggedPlace(withTag(policyTarget.image, ring.tag).replaceAll('{catalog}', catalog));
    return { ...ring, tag: ring.tag.replaceAll('{catalog}', catalog), place, name: formatLocation(place) };
  });
}

/** The catalog's target as the policy names it; undefined where it names none, or one that cannot be read. */
export function targetIn(policy: Policy, catalog: string): PublishTarget | undefined {
  try {
    return targetOf(policy, catalog, {});
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'usage') return undefined;
    throw error;
  }
}

/** The places that a publish itself moves: `to` (the first ring's where there are rings), then the others. */
export function publishedPlaces({
  to,
  also,
  slim,
}: Pick<PublishTarget, 'to' | 'also' | 'slim'>): ImageLocation[] {
  return [to, ...also, ...(slim ? [slim] : [])];
}

/** All places of a target: those that a publish moves, then the rings that a promotion moves. */
export function placesOf(target: PublishTarget): ImageLocation[] {
  return [...publishedPlaces(target), ...target.rings.slice(1).map(({ place }) => place)];
}

/** The places that the policy publishes catalogs to, as {@link oneSpelling} writes them. */
export function takenPlaces(policy: Policy, catalogs: readonly string[]): Set<string> {
  const targets = catalogs.flatMap((catalog) => targetIn(policy, catalog) ?? []);
  return new Set(targets.flatMap(placesOf).map((place) => oneSpelling(formatLocation(place))));
}

/** Places as they were written. */
interface ChosenPlaces {
  readonly to: string;
  readonly also: readonly string[];
  readonly slim: string | undefined;
  readonly base: string | undefined;
  /** What clusters call an image that is not pushed to a registry. */
  readonly as: string | undefined;
}

/**
 * Where a catalog is published to: the options count before the policy.
 *
 * @throws PipelineError `usage` if neither names an image
 */
function chosenPlaces(
  policyTarget: WrittenTarget | undefined,
  catalog: string,
  choices: PublishChoices,
): ChosenPlaces {
  const withName = (text: string): string => text.replaceAll('{catalog}', catalog);
  const image = policyTarget?.image === undefined ? undefined : withName(policyTarget.image);
  const to = choices.to ?? image;
  if (to === undefined) {
    throw new PipelineError('usage', `no image is configured for the catalog ${catalog}`, {
      hint: 'use --to REFERENCE, or set publish.catalogs in the policy',
    });
  }
  // What the policy says besides belongs to the place that it names.
  const beside = choices.to === undefined ? policyTarget : undefined;
  const slim = beside?.slim === undefined ? undefined : withName(beside.slim);
  return {
    to,
    also: choices.also ?? beside?.also.map(withName) ?? [],
    slim: choices.slim ?? slim,
    base: choices.base ?? policyTarget?.base,
    as: choices.as ?? image,
  };
}

/** How the image is built: the options count before the policy, and the policy before the defaults. */
function settingsOf(
  policyTarget: WrittenTarget | undefined,
  { cache, compression, labels }: PublishChoices,
): PublishTarget['settings'] {
  return {
    cache: cache ?? policyTarget?.cache ?? BUILD_DEFAULTS.cache,
    codec: compression ?? policyTarget?.compression ?? BUILD_DEFAULTS.codec,
    labels: labels ?? policyTarget?.labels ?? BUILD_DEFAULTS.labels,
    platforms: policyTarget?.platforms?.map(platformOf) ?? BUILD_DEFAULTS.platforms,
  };
}

/** A place to publish to, from its text. @throws PipelineError `usage` for a digest, and for a text that is not a place */
function taggedPlace(text: string): ImageLocation {
  return checkedTag(parseLocation(text));
}

/** A place as it is written without its tag, for an image that is known by its digest only. */
function withoutTag(place: ImageLocation): string {
  return place.kind === 'registry' ? repositoryName(place.reference) : formatLocation(place);
}

/** Refuses a place on disk without a tag. @throws PipelineError `usage` */
function refuseUntagged(place: ImageLocation | undefined): void {
  if (place === undefined || place.kind === 'registry') return;
  throw new PipelineError(
    'usage',
    `${formatLocation(place)} needs a tag, because only a registry finds images by digest`,
  );
}

/** An image is published under a tag: a digest cannot be known before. */
function checkedTag(place: ImageLocation): ImageLocation {
  if (place.kind !== 'registry' || place.reference.kind === 'tag') return place;
  throw new PipelineError(
    'usage',
    `${formatReference(place.reference)} is a digest, but publishing needs a tag`,
    {
      hint: 'use a tag, for example :v4.20',
    },
  );
}

/** Reads `linux/arm64` or `linux/arm/v7`. */
function platformOf(text: string): Platform {
  const [os = '', architecture = '', variant] = text.split('/');
  return { os, architecture, ...(variant === undefined ? {} : { variant }) };
}
