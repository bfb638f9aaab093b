import { shortName } from '../../fbc/edge.ts';
import { locate } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { csvOf, usedImages } from '../../references/csv.ts';
import { headBundles } from '../head-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/unlisted',
  severity: 'warning',
  summary:
    'Reports images of deployments and RELATED_IMAGE_ variables that the head of a channel does not list in relatedImages',
  foresee(world, report) {
    for (const ofPackage of checkedPackages(world)) {
      for (const bundle of headBundles(ofPackage)) {
        const csv = csvOf(bundle);
        if (!csv) continue;
        const listed = new Set([bundle.image, ...bundle.relatedImages.map(({ image }) => image)]);
        for (const { image, place } of firstUses(usedImages(csv))) {
          if (listed.has(image)) continue;
          const message = `${shortName(bundle)} of package ${quoted(ofPackage.name)} uses ${quoted(image)} (${place}), which is not among its relatedImages`;
          report(message, locate(bundle, 'relatedImages'), {
            package: ofPackage.name,
            installed: [shortName(bundle)],
            hint: `- {name: …, image: ${image}}`,
          });
        }
      }
    }
  },
};

/** Each image once, where it is used first. */
function firstUses<T extends { readonly image: string }>(used: readonly T[]): T[] {
  const seen = new Set<string>();
  return used.filter(({ image }) => !seen.has(image) && seen.add(image));
}
