/** Images that are installed together and that no catalog names: those of a Helm chart, or of an OpenShift release. */
import type { Location } from '../finding.ts';
import { tryParseReference } from '../reference.ts';
import type { Target } from './destination-names.ts';
import type { CatalogImages } from './images.ts';
import type { AdditionalImage } from './plan-request.ts';
import { withPlatforms } from './platforms.ts';
import type { MissingReason, Readiness } from './readiness.ts';

export interface ImageGroup {
  readonly kind: 'chart' | 'release';
  readonly name: string;
  readonly version: string;
  /** Where it was read: a path or a URL. */
  readonly origin: string;
  /** As written, each once. */
  readonly references: readonly string[];
  /** Where a reference is written, as far as that is known. */
  readonly locations: ReadonlyMap<string, Location>;
  /** Names below the destination, in the style `oc-mirror`. */
  readonly targets?: ReadonlyMap<string, Target>;
  /** Platforms of its images; absent: all. */
  readonly platforms?: readonly string[];
  /** Set where not all of its images are known: it is not ready then. */
  readonly isPartial?: true;
}

/** Which groups disconnected clusters can install. */
export interface GroupReadiness {
  readonly total: number;
  readonly ready: number;
  /** Those that lack images, in the order of the configuration. */
  readonly lacking: readonly {
    readonly name: string;
    readonly missing: readonly {
      readonly reference: string;
      readonly reason: MissingReason;
      readonly why: string;
    }[];
  }[];
}

/** `podinfo 6.7.1`. */
export function groupName({ name, version }: Pick<ImageGroup, 'name' | 'version'>): string {
  return version === '' ? name : `${name} ${version}`;
}

/** The images of groups, to be mirrored like images that are named one by one. */
export function groupImages(groups: readonly ImageGroup[]): AdditionalImage[] {
  return groups.flatMap(({ references, locations, targets, platforms }) =>
    references.map((reference) => {
      const location = locations.get(reference);
      return {
        reference,
        ...targets?.get(reference),
        ...withPlatforms(platforms),
        ...(location && { location }),
      };
    }),
  );
}

/** Groups of images in the form of a catalog's bundles, so that the same code checks whether nodes can pull them. */
export function groupsAsCatalog(groups: readonly ImageGroup[]): CatalogImages {
  const references = groups.flatMap((group) => group.references);
  return {
    bundles: groups.map((group) => ({
      package: group.name,
      name: groupName(group),
      image: '',
      references: group.references,
      // All images of a group are known: none is left unchecked.
      hasDeployments: true,
      location: { file: group.origin, line: 1, column: 1 },
    })),
    others: [],
    readable: new Map(
      references.flatMap((written) => {
        const reference = tryParseReference(written);
        return reference ? [[written, reference] as const] : [];
      }),
    ),
    doubtful: new Map(),
    empty: [],
    findings: [],
  };
}

/**
 * How many groups have all images in the mirror, and what the others lack.
 *
 * @param found what nodes can pull of the groups, in their order
 */
export function groupReadiness(groups: readonly ImageGroup[], { bundles: found }: Readiness): GroupReadiness {
  return {
    total: groups.length,
    ready: found.filter(({ missing }, i) => missing.length === 0 && !groups[i]?.isPartial).length,
    lacking: found
      .filter(({ missing }) => missing.length > 0)
      .map(({ name, missing }) => ({ name, missing })),
  };
}

/** How many of the missing references are named. */
const NAMED = 20;

/** `Ready for disconnected clusters: 1 of 2 charts`, and the images that are missing. */
export function groupLines(kind: ImageGroup['kind'], { total, ready, lacking }: GroupReadiness): string[] {
  const missing = lacking.flatMap(({ name, missing: lackedReferences }) =>
    lackedReferences.map(({ reference, why }) => `  ${reference}: ${why} (needed by ${kind} ${name})`),
  );
  return [
    `Ready for disconnected clusters: ${ready} of ${total} ${total === 1 ? kind : `${kind}s`}`,
    ...missing.slice(0, NAMED),
    ...(missing.length > NAMED ? [`  and ${missing.length - NAMED} more references`] : []),
  ];
}
