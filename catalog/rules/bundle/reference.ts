import { type Bundle, locate } from '../../fbc/model.ts';
import type { Path } from '../../go/shape.ts';
import { ownText } from '../../go/text.ts';
import { InvalidReference, parseReference } from '../../reference.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/reference',
  severity: 'error',
  summary: 'Reports values of image and relatedImages that are not image references',
  opm: [
    'package "p" bundle "b" image: invalid image pull spec "x": …',
    'package "p" bundle "b" relatedImages[i].image: invalid image pull spec "x": …',
  ],
  bundleCheck: () => {
    // Parse each reference once: many bundles have the same.
    const defects = new Map<string, string | undefined>();
    const defectOf = (text: string): string | undefined => {
      if (isPlainReference(text)) return undefined;
      if (!defects.has(text)) defects.set(ownText(text), referenceDefect(text));
      return defects.get(text);
    };
    return (bundle, report) => {
      const check = (text: string, path: Path, what: string): void => {
        const defect = defectOf(text);
        if (defect === undefined) return;
        reportReference(
          report,
          bundle,
          path,
          `${what} ${quoted(text)} is not a valid image reference: ${defect}`,
        );
      };
      check(bundle.image, ['image'], 'the image');
      for (const [i, { image }] of bundle.relatedImages.entries()) {
        check(image, ['relatedImages', i, 'image'], `relatedImages[${i}]`);
      }
    };
  },
};

const PLAIN =
  /^[a-z0-9]{1,30}(?:[.-][a-z0-9]{1,30}){0,3}\.[a-z]{1,9}(?:\/[a-z0-9]{1,30}(?:[._-][a-z0-9]{1,30}){0,3}){1,3}@sha256:[a-f0-9]{64}$/;
/** With the digest, shorter than the longest name. */
const LONGEST_PLAIN = 255;

/** Whether a text is what nearly all references look like: a host, a path, a digest. Others have to be parsed. */
export function isPlainReference(text: string): boolean {
  return text.length <= LONGEST_PLAIN && PLAIN.test(text);
}

/** Why a text is not an image reference; undefined if it is one, or empty. */
function referenceDefect(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    parseReference(text);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidReference) return error.message;
    throw error;
  }
}

function reportReference(report: Report, bundle: Bundle, path: Path, message: string): void {
  const hint =
    'use registry/repository@sha256:<64 hex digits> or registry/repository:tag, with the name in lower case';
  report(`bundle ${quoted(bundle.name)}: ${message}`, locate(bundle, ...path), {
    package: bundle.package,
    hint,
  });
}
