/**
 * What was published. It follows from the content alone, so that publishing the same commit again
 * writes the same receipt.
 */
import { parseJson } from '../../catalog/json.ts';
import { tryParseReference } from '../../catalog/reference.ts';
import type { BaseImage } from '../oci/image/base.ts';
import type { BuiltCatalog } from '../oci/image/build.ts';
import { formatLocation, isOnThisMachine } from '../oci/registry/image-location.ts';
import type { PublishTarget } from './target.ts';

export interface PublishReceipt {
  readonly apiVersion: 'portolan/v1alpha1';
  readonly kind: 'PublishReceipt';
  readonly catalog: string;
  /** Id of the commit. */
  readonly commit: string;
  /** The place under which the image was published. */
  readonly image: string;
  /** Digest of the manifest list. */
  readonly digest: string;
  /** Further places of the same image; absent without any. */
  readonly also?: readonly string[];
  /** The image for OLM v1 alone; absent without a place for it. */
  readonly slim?: { readonly image: string; readonly digest: string };
  /** Digest of the base image's manifest list; absent for an image on nothing. */
  readonly base?: string;
  /** `os/architecture[/variant]`, in the order of the list. */
  readonly platforms: readonly string[];
  readonly packages: number;
  /** Our layers; the base's are not counted. */
  readonly layers: number;
  /** The digest by which `opm serve` checks its cache. */
  readonly cacheDigest?: string;
}

/** The receipt of a built image. */
export function receiptOf(
  { image, slim, packages, layers, cacheDigest }: BuiltCatalog,
  about: {
    readonly catalog: string;
    readonly commit: string;
    readonly target: PublishTarget;
    readonly base: BaseImage | undefined;
  },
): PublishReceipt {
  const { catalog, commit, target, base } = about;
  const platforms = base?.platforms.map(({ platform }) => platform) ?? target.settings.platforms;
  return {
    apiVersion: 'portolan/v1alpha1',
    kind: 'PublishReceipt',
    catalog,
    commit,
    image: target.name,
    digest: image.manifestList.digest,
    ...(target.also.length === 0 ? {} : { also: target.also.map(formatLocation) }),
    ...(target.slim
      ? { slim: { image: formatLocation(target.slim), digest: slim.manifestList.digest } }
      : {}),
    ...(base ? { base: base.digest } : {}),
    platforms: platforms.map(({ os, architecture, variant }) =>
      [os, architecture, ...(variant === undefined ? [] : [variant])].join('/'),
    ),
    packages,
    layers,
    ...(cacheDigest === undefined ? {} : { cacheDigest }),
  };
}

/** A receipt as the file of it. */
export function receiptText(receipt: PublishReceipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`;
}

/**
 * The reference by digest of the image that a receipt is about, or its place where that cannot be read as one;
 * undefined for a text that is not a receipt.
 */
export function readPublishReceipt(text: string): string | undefined {
  try {
    const { kind, image, digest } = Object(parseJson(text)) as Record<string, unknown>;
    if (kind !== 'PublishReceipt' || typeof image !== 'string' || typeof digest !== 'string')
      return undefined;
    // `oci:out` could be read as a tag of Docker Hub, too. As it was written: an image without a tag has none here.
    const isInRegistry = !isOnThisMachine(image) && tryParseReference(image) !== undefined;
    return isInRegistry ? `${image}@${digest}` : image;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
