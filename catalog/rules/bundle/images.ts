import { locate } from '../../fbc/model.ts';
import { checkedBundles } from '../../olm/foresight/world.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'bundle/registry',
    severity: 'error',
    isOptional: true,
    summary: 'Reports the image of a bundle that is not from a registry that the gate of a preset allows',
    opm: ['Invalid bundle image(s) found in C: I. Only these registries are allowed for bundle images: R.'],
    checkWorld(world, report) {
      for (const bundle of checkedBundles(world)) {
        const { image } = bundle;
        const refusing = world.bundleRegistries.find(
          (allowed) => !allowed.some((prefix) => image.startsWith(prefix)),
        );
        if (image === '' || !refusing) continue;
        const message = `the image ${quoted(image)} of bundle ${quoted(bundle.name)} is not from an allowed registry`;
        const hint = `use an image from ${refusing.join(' or ')}`;
        report(message, locate(bundle, 'image'), { package: bundle.package, subject: bundle.name, hint });
      }
    },
  },
  {
    id: 'bundle/unpinned',
    severity: 'error',
    isOptional: true,
    summary: 'Reports the image of a bundle without a digest of SHA-256',
    checkWorld(world, report) {
      for (const bundle of checkedBundles(world)) {
        if (bundle.image === '' || DIGEST.test(bundle.image)) continue;
        const message = `the image ${quoted(bundle.image)} of bundle ${quoted(bundle.name)} has no digest`;
        const hint = 'find the digest of a tag with portolan resolve';
        report(message, locate(bundle, 'image'), { package: bundle.package, subject: bundle.name, hint });
      }
    },
  },
];

const DIGEST = /@sha256:[a-fA-F0-9]{64}$/;
