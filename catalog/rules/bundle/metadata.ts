import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import { formatMinor } from '../../fbc/openshift.ts';
import { readsCsvMetadata } from '../../fbc/platform.ts';
import { groupedBy } from '../../go/grouped.ts';
import { shellWord } from '../../names.ts';
import { compareInstalled } from '../../olm/foresight/installation.ts';
import { checkedBundles, checkedPackages, type World } from '../../olm/foresight/world.ts';
import { manifestsOfBundle } from '../../olm/manifests.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  /**
   * The subscription's `currentCSV` is the bundle's name; the InstallPlan creates the ClusterServiceVersion under its own.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/step_resolver.go
   */
  {
    id: 'bundle/csv-name',
    severity: 'error',
    summary: 'Reports bundles whose name differs from the name of their ClusterServiceVersion',
    reads: ['manifests'],
    checkWorld(world, report) {
      if (!world.olm.has('v0')) return;
      for (const ofPackage of checkedPackages(world))
        for (const bundle of ofPackage.bundles.values()) checkName(world, ofPackage, bundle, report);
    },
  },
  {
    id: 'bundle/metadata-format',
    severity: 'warning',
    summary:
      'Reports bundles in the metadata format of another platform: olm.bundle.object is for catalogs before 4.17, olm.csv.metadata since',
    checkWorld(world, report) {
      const { platform } = world;
      if (!platform) return;
      const isNew = readsCsvMetadata(platform);
      const [wrong, right] = isNew
        ? ['olm.bundle.object', 'olm.csv.metadata']
        : ['olm.csv.metadata', 'olm.bundle.object'];
      const packages = groupedBy(checkedBundles(world), (bundle) => bundle.package);
      for (const [name, bundles] of packages) {
        // opm does not migrate bundles without an image: their manifests are nowhere else.
        const bundle = newest(
          bundles.filter((one) => positionOf(one, wrong) >= 0 && !(isNew && one.image === '')),
        );
        if (!bundle) continue;
        const message = `bundle ${quoted(bundle.name)} of package ${quoted(name)} has ${wrong} properties, but catalogs for ${formatMinor(platform)} need ${right}`;
        const flag = isNew ? '--migrate-level=bundle-object-to-csv-metadata' : '--migrate-level=none';
        report(message, locate(bundle, 'properties', positionOf(bundle, wrong)), {
          package: name,
          hint: `render it with portolan opm render ${flag}, or with opm`,
        });
      }
    },
  },
  {
    id: 'bundle/metadata-missing',
    severity: 'error',
    isOptional: true,
    summary:
      "Reports a bundle without the metadata that its catalog's platform reads: olm.bundle.object before 4.17, olm.csv.metadata since",
    checkWorld(world, report) {
      const { platform } = world;
      if (!platform) return;
      const needed = readsCsvMetadata(platform) ? 'olm.csv.metadata' : 'olm.bundle.object';
      for (const bundle of checkedBundles(world)) {
        if (positionOf(bundle, needed) >= 0) continue;
        const message = `bundle ${quoted(bundle.name)} of package ${quoted(bundle.package)} has no ${needed}, which catalogs for ${formatMinor(platform)} need`;
        const flag = readsCsvMetadata(platform)
          ? '--migrate-level=bundle-object-to-csv-metadata'
          : '--migrate-level=none';
        const hint = `render it with portolan opm render ${flag}, or with opm`;
        const details = { package: bundle.package, subject: bundle.name, hint };
        report(message, locate(bundle, 'properties'), details);
      }
    },
  },
];

/** Reports a bundle whose ClusterServiceVersion has another name, with what OLM v0 does then. */
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

/** Position of the first property of a type, or -1. */
function positionOf({ properties }: Bundle, wanted: string): number {
  return properties.findIndex(({ type }) => type === wanted);
}

/** The bundle with the highest version. The one finding of a package points to it: older ones are most often as they always were. */
function newest(bundles: readonly Bundle[]): Bundle | undefined {
  return bundles.toSorted(compareInstalled).at(-1);
}
