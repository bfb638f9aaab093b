/** Where a catalog is published: what was asked for, else what the policy says. */
import { formatReference } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { PLATFORMS } from '../image/image.ts';
import { matchesGlob } from '../policy/layout.ts';
import type { Policy } from '../policy/policy.ts';
import type { Platform } from '../ports.ts';
import { formatPlace, type Place, parsePlace } from '../registry/place.ts';

/** What was asked for; the policy of the commit fills in what was not. */
export interface PublishChoices {
  /** A reference, `oci:DIR` or another place. */
  readonly to?: string | undefined;
  /** What clusters call the image, where it is not pushed to a registry itself. */
  readonly as?: string | undefined;
  readonly base?: string | undefined;
  /** `REGISTRY[/PATH]`. */
  readonly mirrorTo?: string | undefined;
}

export interface PublishTarget {
  readonly to: Place;
  /** The place as it was written. */
  readonly name: string;
  /** What clusters call the image; undefined for a directory that nobody named. */
  readonly reference: string | undefined;
  readonly base: Place | undefined;
  /** Platforms of an image without a base. */
  readonly platforms: readonly Platform[];
  readonly mirrorTo: string | undefined;
}

/** @throws PipelineError `usage` when nobody says where to, or what is said cannot be read */
export function targetOf({ publish }: Policy, catalog: string, choices: PublishChoices): PublishTarget {
  const written = publish.catalogs.find(({ pattern }) => matchesGlob(pattern, catalog));
  const image = written?.image.replaceAll('{catalog}', catalog);
  const to = choices.to ?? image;
  if (to === undefined) {
    throw new PipelineError('usage', `nothing says where the catalog ${catalog} is published`, {
      hint: 'name a place (--to REFERENCE), or write publish.catalogs in the policy',
    });
  }
  const place = tagged(parsePlace(to));
  const base = choices.base ?? written?.base;
  const target = {
    to: place,
    name: formatPlace(place),
    reference: place.kind === 'registry' ? formatPlace(place) : (choices.as ?? image),
    base: base === undefined ? undefined : parsePlace(base),
    platforms: written?.platforms.map(platformOf) ?? PLATFORMS,
    mirrorTo: choices.mirrorTo ?? written?.mirrorTo,
  };
  if (target.mirrorTo !== undefined && target.reference === undefined) {
    throw new PipelineError('usage', `the mirror's documents need the name of the image in ${target.name}`, {
      hint: 'say what clusters call it: --as REFERENCE',
    });
  }
  return target;
}

/** An image is published under a tag: a digest cannot be known before. */
function tagged(place: Place): Place {
  if (place.kind !== 'registry' || place.reference.kind === 'tag') return place;
  throw new PipelineError(
    'usage',
    `${formatReference(place.reference)} is a digest, and nothing can be published as one`,
    {
      hint: 'name a tag, such as :v4.20',
    },
  );
}

/** Reads `linux/arm64` or `linux/arm/v7`. */
function platformOf(text: string): Platform {
  const [os = '', architecture = '', variant] = text.split('/');
  return { os, architecture, ...(variant === undefined ? {} : { variant }) };
}
