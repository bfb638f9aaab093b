import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

/**
 * The subscription's `currentCSV` is the bundle's name; the InstallPlan creates the ClusterServiceVersion under its own.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/step_resolver.go
 */
export const rule: Rule = {
  id: 'bundle/csv-name',
  severity: 'error',
  summary: 'Reports bundles whose name differs from the name of their ClusterServiceVersion',
  reads: ['manifests'],
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const ofPackage of checkedPackages(world))
      for (const bundle of ofPackage.bundles.values()) checkName(world, ofPackage, bundle, report);
  },
};

function checkName(world: World, { bundles }: Package, bundle: Bundle, report: Report): void {
  const name = world.manifests(bundle).csv?.name ?? '';
  // A directory that is found by its version may be that of another bundle of the same version.
  if (name === '' || name === bundle.name || bundles.has(name)) return;
  const message = `bundle ${quoted(bundle.name)} of package ${quoted(bundle.package)} has a ClusterServiceVersion with another name, ${quoted(name)}: under OLM v0 the subscription waits for ${quoted(bundle.name)}, which the InstallPlan never creates`;
  report(message, locate(bundle, 'name'), {
    package: bundle.package,
    subject: bundle.name,
    hint: `name the ClusterServiceVersion ${quoted(bundle.name)}, or the bundle and its entries ${quoted(name)}`,
  });
}
