/**
 * An index image before its catalog is read: where in the image the catalog lies, and
 * which image of a list to look into.
 */
import { InvalidOption } from '../../catalog/mirror/invalid-option.ts';

/** The label of an image that holds a file-based catalog. */
export const CONFIGS_LABEL = 'operators.operatorframework.io.index.configs.v1';
/** The label of an image with a database of SQLite, which OLM has given up. */
export const DATABASE_LABEL = 'operators.operatorframework.io.index.database.v1';

/**
 * The directory of the catalog in the image, by its labels.
 *
 * @throws InvalidOption if the image does not contain a file-based catalog
 */
export function configsDirectory(labels: Readonly<Record<string, string>>): string {
  const directory = Object.hasOwn(labels, CONFIGS_LABEL) ? labels[CONFIGS_LABEL] : undefined;
  if (directory !== undefined) return directory.endsWith('/') ? directory : `${directory}/`;
  if (Object.hasOwn(labels, DATABASE_LABEL)) {
    throw new InvalidOption(
      'the index image contains a SQLite database; convert it to a file-based catalog with opm migrate',
    );
  }
  throw new InvalidOption(
    `the image is not an index image of a file-based catalog: it has no label ${CONFIGS_LABEL}`,
  );
}

/** A platform of an image in a list. */
export interface ImagePlatform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string | undefined;
}

/** `linux/arm/v7`. */
export function platformText({ os, architecture, variant }: ImagePlatform): string {
  return [os, architecture, ...(variant ? [variant] : [])].join('/');
}

/** The image in a manifest list whose catalog is read by default. */
const DEFAULT_PLATFORM = 'linux/amd64';

/**
 * Chooses the one image of a list to read the catalog from.
 *
 * @param pattern a regular expression for `os/architecture[/variant]`
 * @throws InvalidOption when it is none, or does not leave exactly one image
 */
export function chooseImage<P extends ImagePlatform>(
  images: readonly P[],
  pattern: string = DEFAULT_PLATFORM,
): P {
  const matching = images.filter((image) => compiled(pattern).test(platformText(image)));
  const [chosen] = matching;
  if (chosen && matching.length === 1) return chosen;
  const have = images.map(platformText).join(', ');
  throw new InvalidOption(
    `--index-filter-by-os ${JSON.stringify(pattern)} matches ${matching.length} of the index image's platforms, expected one of: ${have}`,
  );
}

function compiled(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch {
    throw new InvalidOption(
      `--index-filter-by-os is ${JSON.stringify(pattern)}, which is not a valid regular expression`,
    );
  }
}
