import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate } from '../../fbc/model.ts';
import { groupedBy } from '../../go/grouped.ts';
import type { Path } from '../../go/path.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { tryParseReference } from '../../reference.ts';
import { headBundles } from '../head-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/unpinned',
  severity: 'warning',
  summary:
    'Reports channel heads that reference images by tag: tags may move, and mirrors serve images by digest only',
  foresee(world, report) {
    for (const ofPackage of checkedPackages(world)) {
      for (const bundle of headBundles(ofPackage)) {
        const tags = referencesOf(bundle).filter(
          ({ image }) => !image.includes('@') && tryParseReference(image)?.kind === 'tag',
        );
        const [first, ...others] = tags;
        if (!first) continue;
        const more = others.length > 0 ? ` and ${others.length} more of its images` : '';
        const message = `${shortName(bundle)} of package ${quoted(ofPackage.name)} names ${quoted(first.image)}${more} by tag`;
        report(message, locate(bundle, ...first.path), {
          package: ofPackage.name,
          installed: [shortName(bundle)],
          hint: 'run portolan resolve DIR --write to write the digests, with the tags as comments',
        });
      }
    }
  },
};

/** The images that a bundle names, each where it is named first. */
export function referencesOf({ image, relatedImages }: Bundle): { image: string; path: Path }[] {
  const all = [
    { image, path: ['image'] as Path },
    ...relatedImages.map((related, i) => ({
      image: related.image,
      path: ['relatedImages', i, 'image'] as Path,
    })),
  ];
  return [...groupedBy(all, (one) => one.image).values()].flatMap(([first]) => first ?? []);
}
