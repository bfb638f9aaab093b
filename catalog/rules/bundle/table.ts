import { locate } from '../../fbc/model.ts';
import { formatVersion } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const unlisted: Rule = {
  id: 'bundle/unlisted',
  severity: 'error',
  summary: 'Reports bundles that are an entry of no channel',
  opm: ['package "p", bundle "b" not found in any channel entries'],
  check(catalog, report) {
    for (const { blob, bundles, channels } of catalog.packages.values()) {
      if (!blob) continue;
      const listed = new Set(
        [...channels.values()].flatMap(({ entries }) => entries.map(({ name }) => name)),
      );
      for (const bundle of bundles.values()) {
        if (listed.has(bundle.name)) continue;
        const message = `bundle ${quoted(bundle.name)} of package ${quoted(bundle.package)} is not an entry of any channel`;
        const hint = `add to a channel's entries: - name: ${bundle.name}`;
        report(message, locate(bundle, 'name'), { package: bundle.package, hint });
      }
    }
  },
};

export const rules: readonly Rule[] = [
  unlisted,
  {
    id: 'bundle/build-metadata',
    severity: 'error',
    summary: 'Reports bundles with a release that also have build metadata in their version',
    opm: ['cannot use build metadata in version with a release version'],
    bundleCheck: () => (bundle, report) => {
      if (!bundle.version || bundle.version.build.length === 0 || bundle.release === '') return;
      const i = bundle.properties.findIndex(({ type }) => type === 'olm.package');
      const message = `bundle ${quoted(bundle.name)} has both build metadata (+${bundle.version.build.join('.')}) and a release (${bundle.release})`;
      const location = locate(bundle, 'properties', i, 'value', 'version');
      report(message, location, {
        package: bundle.package,
        hint: 'keep the release, and remove the + and everything after it from the version',
      });
    },
  },
  {
    id: 'bundle/duplicate',
    severity: 'error',
    summary: 'Reports bundles that are defined more than once in their package',
    opm: ['package "p" has duplicate bundle "b"'],
    check(catalog, report) {
      for (const bundle of catalog.blobs.bundles) {
        const first = catalog.packages.get(bundle.package)?.bundles.get(bundle.name);
        if (!first || first === bundle || bundle.package === '') continue;
        const { file, line } = locate(first);
        const message = `duplicate bundle ${quoted(bundle.name)} in package ${quoted(bundle.package)}, first defined at ${file}:${line}`;
        report(message, locate(bundle, 'name'), { package: bundle.package, hint: 'remove one of the two' });
      }
    },
  },
  {
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
  },
  {
    id: 'bundle/package',
    severity: 'error',
    summary: 'Reports bundles that do not name their package',
    opm: ['package name must be set for bundle "b"'],
    bundleCheck: () => (bundle, report) => {
      if (bundle.package !== '') return;
      report(`bundle ${quoted(bundle.name)} does not name its package`, locate(bundle, 'package'), {
        hint: 'package: my-operator',
      });
    },
  },
  {
    id: 'bundle/release-name',
    severity: 'error',
    summary: 'Reports bundles with a release that are not named <package>-v<version>-<release>',
    opm: ['name "x" does not match normalized name "<package>-v<version>-<release>"'],
    bundleCheck: () => (bundle, report) => {
      if (!bundle.version || bundle.release === '') return;
      const expected = `${bundle.package}-v${formatVersion(bundle.version)}-${bundle.release}`;
      if (bundle.name === expected) return;
      const message = `bundle ${quoted(bundle.name)} has release ${quoted(bundle.release)}, so its name must be ${quoted(expected)}`;
      report(message, locate(bundle, 'name'), { package: bundle.package, hint: `name: ${expected}` });
    },
  },
];
