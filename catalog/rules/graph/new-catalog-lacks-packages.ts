import { headOf } from '../../fbc/channel.ts';
import type { Catalog, Package } from '../../fbc/model.ts';
import { isHeldBack } from '../../fbc/openshift.ts';
import type { Location } from '../../finding.ts';
import { compareText } from '../../go/text.ts';
import type { World } from '../../olm/foresight/world.ts';
import { placeOfPackage } from '../finding-location.ts';
import { listed } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/new-catalog-lacks-packages',
  severity: 'warning',
  summary: 'Reports new catalogs without packages that the catalog of the previous platform version has',
  reads: ['catalogs'],
  compare({ before, after }, report) {
    const location = [...after.catalog.packages.keys()]
      .map((name) => placeOfPackage(after, name))
      .find((place) => place !== undefined);
    if (!location || before.catalog.packages.size > 0) return;
    const reported = new Set<string>();
    for (const { name, catalog } of after.predecessors) {
      const missing = missingFrom(after, catalog).filter((one) => !reported.has(one));
      for (const one of missing) reported.add(one);
      if (missing.length > 0) reportLack({ after, from: name, missing }, location, report);
    }
  },
};

/** Names of the packages that clusters bring from the previous platform and that the new catalog does not offer. */
function missingFrom(after: World, previous: Catalog): string[] {
  const needed = [...previous.packages.values()].filter((one) => isNeeded(one, after));
  return needed.filter(({ name }) => !isOffered(after, name)).map(({ name }) => name);
}

interface Lack {
  readonly after: World;
  /** Name of the catalog that clusters come from. */
  readonly from: string;
  readonly missing: string[];
}

function reportLack({ after, from, missing }: Lack, location: Location, report: Report): void {
  const names = missing.sort(compareText).map(quoted);
  const [which, them] =
    names.length === 1 ? [`package ${names[0]}`, 'it'] : [`the packages ${listed(names)}`, 'them'];
  const message = `the new catalog ${after.name} lacks ${which} of ${from}: when clusters upgrade from ${from} to ${after.name}, they get no more updates of ${them}, and OLM v0 cannot resolve anything in namespaces that subscribe to ${them}`;
  report(message, location, {
    package: '',
    subject: missing.join(' '),
    hint: `add to ${after.name}, or deprecate in ${from} (reference: {schema: olm.package}): ${missing.join(', ')}`,
  });
}

function isOffered({ catalog }: World, name: string): boolean {
  return (catalog.packages.get(name)?.channels.size ?? 0) > 0;
}

/** Whether clusters come with a package: not where it is deprecated, or every head keeps them from the platform. */
function isNeeded({ deprecation, channels, bundles }: Package, { platform }: World): boolean {
  if (deprecation !== undefined) return false;
  return [...channels.values()].some((channel) => {
    const bundle = bundles.get(headOf(channel)?.name ?? '');
    return bundle !== undefined && !isHeldBack(bundle, platform);
  });
}
