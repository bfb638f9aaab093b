import { shortName } from '../../fbc/edge.ts';
import { locate } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { tryParseReference } from '../../reference.ts';
import { headBundles } from '../head-bundles.ts';
import { quoted, type Rule } from '../rule.ts';
import { referencesOf } from './unpinned.ts';

export const rule: Rule = {
  id: 'image/local',
  severity: 'warning',
  summary:
    'Reports channel heads with images of a registry on localhost, where clusters look on their own nodes',
  foresee(world, report) {
    for (const ofPackage of checkedPackages(world)) {
      for (const bundle of headBundles(ofPackage)) {
        const [first, ...others] = referencesOf(bundle).filter(
          ({ image }) => LOCAL.test(image) && tryParseReference(image) !== undefined,
        );
        if (!first) continue;
        const more = others.length > 0 ? ` and ${others.length} more of its images` : '';
        const message = `${shortName(bundle)} of package ${quoted(ofPackage.name)} names ${quoted(first.image)}${more}: a cluster looks for it on its own nodes`;
        report(message, locate(bundle, ...first.path), {
          package: ofPackage.name,
          installed: [shortName(bundle)],
          hint: 'push the image to a registry that clusters can reach, and name it there',
        });
      }
    }
  },
};

const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?\//;
