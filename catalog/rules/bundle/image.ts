import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/image',
  severity: 'error',
  summary: 'Reports bundles with neither an image nor manifests in olm.bundle.object properties',
  opm: ['bundle image must be set'],
  bundleCheck: () => (bundle, report) => {
    if (bundle.image !== '' || bundle.properties.some(({ type }) => type === 'olm.bundle.object')) return;
    const hint = 'image: registry.example.com/my-operator-bundle@sha256:…';
    report(`bundle ${quoted(bundle.name)} has no image`, locate(bundle, 'image'), {
      package: bundle.package,
      hint,
    });
  },
};
