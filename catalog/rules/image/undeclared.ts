import { shortName } from '../../fbc/edge.ts';
import { locate } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { headBundles } from '../head-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/undeclared',
  severity: 'warning',
  summary:
    'Reports images that the head of a channel runs but does not declare in relatedImages, so that they are not mirrored',
  foresee(world, report) {
    for (const ofPackage of checkedPackages(world)) {
      for (const bundle of headBundles(ofPackage)) {
        if (bundle.relatedImages.some(({ image }) => image !== '' && image !== bundle.image)) continue;
        const message = `${shortName(bundle)} of package ${quoted(ofPackage.name)} declares no image besides the bundle itself, so the images that it runs are not mirrored`;
        report(message, locate(bundle, 'relatedImages'), {
          package: ofPackage.name,
          installed: [shortName(bundle)],
          hint: "list every image in the CSV's spec.relatedImages, and render the bundle again",
        });
      }
    }
  },
};
