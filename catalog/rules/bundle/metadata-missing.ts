import { type Bundle, locate } from '../../fbc/model.ts';
import { formatMinor } from '../../fbc/openshift.ts';
import { readsCsvMetadata } from '../../fbc/platform.ts';
import { checkedBundles } from '../../olm/foresight/world.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/metadata-missing',
  severity: 'error',
  isOptional: true,
  summary:
    "Reports a bundle without the metadata that its catalog's platform reads: olm.bundle.object before 4.17, olm.csv.metadata since",
  foresee(world, report) {
    const { platform } = world;
    if (!platform) return;
    const needed = readsCsvMetadata(platform) ? 'olm.csv.metadata' : 'olm.bundle.object';
    for (const bundle of checkedBundles(world)) {
      if (has(bundle, needed)) continue;
      const message = `bundle ${quoted(bundle.name)} of package ${quoted(bundle.package)} has no ${needed}, which catalogs for ${formatMinor(platform)} need`;
      const flag = readsCsvMetadata(platform)
        ? '--migrate-level=bundle-object-to-csv-metadata'
        : '--migrate-level=none';
      const hint = `render it with portolan opm render ${flag}, or with opm`;
      report(message, locate(bundle, 'properties'), { package: bundle.package, hint });
    }
  },
};

function has({ properties }: Bundle, wanted: string): boolean {
  return properties.some(({ type }) => type === wanted);
}
