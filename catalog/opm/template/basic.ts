/**
 * Basic templates: a catalog as it is, but for its bundles, of which only the images stand
 * there.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/template/basic/basic.go
 */

import { type Blobs, type Bundle, locate } from '../../fbc/model.ts';
import type { Finding } from '../../finding.ts';
import { entriesShape, entryBlobs, readTemplate } from './entries.ts';
import { type Expand, runExpansion, TemplateError, type TemplateText } from './template.ts';

export const BASIC_SCHEMA = 'olm.template.basic';

const SHAPE = entriesShape('basic.BasicTemplateData');

/** Expands a basic template as opm does: renders the image of each bundle, and leaves all else as it is. */
export const expandBasic: Expand = (text, renderImage) =>
  runExpansion(async (findings) => {
    const blobs = writtenInBasic(text, findings);
    if (findings.length > 0) return blobs;
    const bundles: Bundle[] = [];
    for (const bundle of blobs.bundles) {
      checkBundle(bundle);
      bundles.push((await renderImage(bundle.image)).bundle);
    }
    return { ...blobs, bundles };
  });

/** The blobs of a template; its bundles have only their images. @throws TemplateError */
export function writtenInBasic(text: TemplateText, findings: Finding[]): Blobs {
  return entryBlobs(readTemplate(text, BASIC_SCHEMA, SHAPE), findings);
}

/**
 * Checks a bundle of a basic template.
 *
 * @throws TemplateError for a bundle that says more than its image, or not even that
 */
function checkBundle(bundle: Bundle): void {
  if (bundle.image === '') {
    throw new TemplateError('a bundle of a basic template has an image', locate(bundle), 'image: REFERENCE');
  }
  const written = [
    ['package', bundle.package !== ''],
    ['properties', bundle.properties.length > 0],
    ['relatedImages', bundle.relatedImages.length > 0],
  ] as const;
  const more = written.find(([, isWritten]) => isWritten)?.[0];
  if (more === undefined) return;
  const message = `a bundle of a basic template has only schema and image, found ${more}`;
  throw new TemplateError(message, locate(bundle, more), `remove ${more}: it comes from the image`);
}
