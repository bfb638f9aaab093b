/**
 * Platforms of images, as `os/architecture`: which images of a manifest list are mirrored. The list itself stays as it
 * is, with its digest; it then names images that the mirror does not have.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/image-index.md
 */

/** Such as `linux/amd64`, sorted, each once; undefined for all platforms of an image. */
export type Platforms = readonly string[] | undefined;

const PLATFORM = /^[a-z0-9]+\/[a-z0-9_]+$/;

/** Whether a text is `os/architecture`. */
export function isPlatform(text: string): boolean {
  return PLATFORM.test(text);
}

/** Sorted, each once; undefined when there is none. */
export function platformsOf(texts: readonly string[]): Platforms {
  return texts.length === 0 ? undefined : [...new Set(texts)].sort();
}

/** What two people who need an image need together. */
export function eitherPlatforms(a: Platforms, b: Platforms): Platforms {
  return a && b ? platformsOf([...a, ...b]) : undefined;
}

export function samePlatforms(a: Platforms, b: Platforms): boolean {
  return a?.join() === b?.join();
}

/** The field of an object that names platforms; none where all are meant. */
export function withPlatforms(platforms: Platforms): { readonly platforms?: readonly string[] } {
  return platforms === undefined ? {} : { platforms };
}
