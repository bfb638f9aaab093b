import { locate } from '../../fbc/model.ts';
import { checkedBundles } from '../../olm/foresight/world.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/registry',
  severity: 'error',
  isOptional: true,
  summary: 'Reports the image of a bundle that is not from a registry that the gate of a preset allows',
  opm: ['Invalid bundle image(s) found in C: I. Only these registries are allowed for bundle images: R.'],
  foresee(world, report) {
    for (const bundle of checkedBundles(world)) {
      const { image } = bundle;
      const refusing = world.bundleRegistries.find(
        (allowed) => !allowed.some((prefix) => image.startsWith(prefix)),
      );
      if (image === '' || !refusing) continue;
      const message = `the image ${quoted(image)} of bundle ${quoted(bundle.name)} is not from an allowed registry`;
      const hint = `use an image from ${refusing.join(' or ')}`;
      report(message, locate(bundle, 'image'), { package: bundle.package, hint });
    }
  },
};
