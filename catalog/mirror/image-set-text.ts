/**
 * Writing oc-mirror's ImageSetConfiguration (v2alpha1): what we mirrored, for those who
 * go on with oc-mirror.
 */
import type { Json } from '../yaml/scalar.ts';
import type { CatalogSelection, ImageSet } from './image-set.ts';
import { objectText } from './object.ts';

/** The configuration as YAML. */
export function imageSetText({ catalogs, additional, blocked }: ImageSet): string {
  const images = additional.map(({ reference, repository, tag }) => ({
    name: reference,
    ...(repository === undefined ? {} : { targetRepo: repository }),
    ...(tag === undefined ? {} : { targetTag: tag }),
  }));
  return objectText({
    apiVersion: 'mirror.openshift.io/v2alpha1',
    kind: 'ImageSetConfiguration',
    mirror: {
      ...(images.length === 0 ? {} : { additionalImages: images }),
      ...(blocked.length === 0 ? {} : { blockedImages: blocked.map(({ source }) => ({ name: source })) }),
      operators: catalogs.map(operatorOf),
    },
  });
}

function operatorOf({ full, packages, ...texts }: CatalogSelection): Json {
  return {
    ...texts,
    ...(full ? { full } : {}),
    ...(packages.length === 0
      ? {}
      : {
          packages: packages.map(({ channels, ...fields }) => ({
            ...fields,
            ...(channels.length === 0 ? {} : { channels: channels.map((channel) => ({ ...channel })) }),
          })),
        }),
  };
}
