import { type Bundle, locate } from '../../fbc/model.ts';
import { formatMinor } from '../../fbc/openshift.ts';
import { readsCsvMetadata } from '../../fbc/platform.ts';
import { groupedBy } from '../../go/grouped.ts';
import { checkedBundles } from '../../olm/foresight/world.ts';
import { compareVersions } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/metadata-format',
  severity: 'warning',
  summary:
    'Reports bundles in the metadata format of another platform: olm.bundle.object is for catalogs before 4.17, olm.csv.metadata since',
  foresee(world, report) {
    const { platform } = world;
    if (!platform) return;
    const isNew = readsCsvMetadata(platform);
    const [wrong, right] = isNew
      ? ['olm.bundle.object', 'olm.csv.metadata']
      : ['olm.csv.metadata', 'olm.bundle.object'];
    const packages = groupedBy(checkedBundles(world), (bundle) => bundle.package);
    for (const [name, bundles] of packages) {
      const bundle = newest(bundles.filter((one) => positionOf(one, wrong) >= 0));
      if (!bundle) continue;
      const message = `bundle ${quoted(bundle.name)} of package ${quoted(name)} has ${wrong} properties, but catalogs for ${formatMinor(platform)} need ${right}`;
      const flag = isNew ? '--migrate-level=bundle-object-to-csv-metadata' : '--migrate-level=none';
      report(message, locate(bundle, 'properties', positionOf(bundle, wrong)), {
        package: name,
        hint: `render it with portolan opm render ${flag}, or with opm`,
      });
    }
  },
};

function positionOf({ properties }: Bundle, wanted: string): number {
  return properties.findIndex(({ type }) => type === wanted);
}

/** The bundle with the highest version: what is older is most often as it always was. */
function newest(bundles: readonly Bundle[]): Bundle | undefined {
  return bundles.reduce<Bundle | undefined>((last, one) => {
    if (!last?.version || !one.version) return last ?? one;
    return compareVersions(one.version, last.version) > 0 ? one : last;
  }, undefined);
}
