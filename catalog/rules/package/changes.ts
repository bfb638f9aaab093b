import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import { manifestsOfBundle } from '../../olm/manifests.ts';
import { placeOfPackage } from '../finding-location.ts';
import { headBundles } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'package/icon',
    severity: 'info',
    summary: 'Reports new packages without an icon: consoles show a placeholder',
    compare({ before, after, packages }, report) {
      for (const name of packages) {
        const [was, is] = [before, after].map(({ catalog }) => catalog.packages.get(name)?.blob);
        const location = placeOfPackage(after, name);
        if (!is || is.icon || was || !location) continue;
        const hint = 'icon: {base64data: …, mediatype: image/svg+xml}';
        report(`package ${quoted(name)} has no icon`, location, { package: name, hint });
      }
    },
  },
  /**
   * The console shows what package-server makes of the metadata of heads: it leaves out channels whose head has none.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/package-server/provider/registry.go `newPackageManifest`
   */
  {
    id: 'package/lost-field',
    severity: 'warning',
    summary: "Reports changes that drop a package's icon or description, or the metadata of its heads",
    compare({ before, after, packages }, report) {
      for (const name of packages) {
        const [was, is] = [before, after].map(({ catalog }) => catalog.packages.get(name));
        const location = placeOfPackage(after, name);
        if (!was || !is || !location) continue;
        const lost = [
          ...(was.blob?.icon && !is.blob?.icon ? ['icon'] : []),
          ...(was.blob?.description && is.blob?.description === '' ? ['description'] : []),
        ];
        for (const field of lost) {
          const message = `package ${quoted(name)} loses its ${field}`;
          report(message, location, { package: name, hint: `copy ${field} from the base branch` });
        }
        for (const bundle of after.olm.has('v0') ? headsWithoutMetadata(was, is) : []) {
          const head = was.bundles.has(bundle.name) ? 'the head' : 'the new head';
          const message = `${head} ${shortName(bundle)} of package ${quoted(name)} has no metadata of its ClusterServiceVersion, as heads had before: PackageManifests, and so the console, leave out its channels`;
          report(message, locate(bundle, 'name'), {
            package: name,
            subject: bundle.name,
            hint: 'render the bundle with olm.csv.metadata: portolan opm render, or opm',
          });
        }
      }
    },
  },
  {
    id: 'package/update-graph',
    severity: 'error',
    summary: 'Reports packages that are built from bundle directories to an invalid upgrade graph',
  },
];

/** The heads that a change leaves without metadata in a package whose heads all had it. */
function headsWithoutMetadata(was: Package, is: Package): Bundle[] {
  const hasMetadata = (bundle: Bundle): boolean => manifestsOfBundle(bundle).csv !== undefined;
  const former = headBundles(was);
  if (former.length === 0 || !former.every(hasMetadata)) return [];
  const had = (old: Bundle | undefined): boolean => old === undefined || hasMetadata(old);
  return headBundles(is).filter((bundle) => had(was.bundles.get(bundle.name)) && !hasMetadata(bundle));
}
