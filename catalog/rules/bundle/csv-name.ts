import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import { shellWord } from '../../names.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { manifestsOfBundle } from '../../olm/manifests.ts';
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
  const subject = { package: bundle.package, subject: bundle.name };
  const what = `bundle ${quoted(bundle.name)} of package ${quoted(bundle.package)}`;
  const harm = `under OLM v0 the subscription waits for ${quoted(bundle.name)}, which the InstallPlan never creates`;
  // OLM v0 installs what is in the image, if there is one; the catalog holds a copy, which may be that of an older bundle.
  if (bundle.image !== '' && manifestsOfBundle(bundle).csv?.name === name)
    report(
      `${what} holds a copy of another ClusterServiceVersion, ${quoted(name)}: if its image has it too, ${harm}`,
      locate(bundle, 'name'),
      { ...subject, severity: 'warning', hint: `opm render ${shellWord(bundle.image)}` },
    );
  else
    report(
      `${what} has a ClusterServiceVersion with another name, ${quoted(name)}: ${harm}`,
      locate(bundle, 'name'),
      {
        ...subject,
        hint: `name the ClusterServiceVersion ${quoted(bundle.name)}, or the bundle and its entries ${quoted(name)}`,
      },
    );
}
