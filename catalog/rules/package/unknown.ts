import { type Blob, locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/unknown',
  severity: 'error',
  summary: 'Reports channels, bundles and deprecations of packages that the catalog lacks',
  opm: [
    'unknown package "p" for channel "c"',
    'unknown package "p" for bundle "b"',
    'cannot apply deprecations to an unknown package "p"',
  ],
  check(catalog, report) {
    const { channels, bundles, deprecations } = catalog.blobs;
    const check = (blob: Blob, what: string): void => {
      if (catalog.packages.get(blob.package)?.blob) return;
      const message = `${what} belongs to package ${quoted(blob.package)}, which has no olm.package blob`;
      const hint = `add an olm.package blob with name: ${blob.package}, or correct the package`;
      report(message, locate(blob, 'package'), { package: blob.package, hint });
    };
    for (const channel of channels) check(channel, `channel ${quoted(channel.name)}`);
    // bundle/package and deprecation/package report blobs without a package.
    for (const bundle of bundles) if (bundle.package !== '') check(bundle, `bundle ${quoted(bundle.name)}`);
    for (const blob of deprecations) if (blob.package !== '') check(blob, 'the deprecations blob');
  },
};
