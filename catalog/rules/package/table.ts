import { type Blob, type Bundle, locate } from '../../fbc/model.ts';
import { isDnsLabel } from '../../names.ts';
import { formatVersion } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'package/default-channel',
    severity: 'error',
    summary: 'Reports packages that do not name one of their channels as the default',
    opm: ['default channel must be set', 'invalid channel "c": channel must contain at least one bundle'],
    check(catalog, report) {
      for (const { name, blob, channels } of catalog.packages.values()) {
        if (!blob || name === '' || channels.has(blob.defaultChannel)) continue;
        const known = [...channels.keys()];
        const hint = known.length > 0 ? `defaultChannel: ${known[0]}` : 'add a channel first';
        const message =
          blob.defaultChannel === ''
            ? `package ${quoted(name)} has no default channel`
            : `package ${quoted(name)}: the default channel ${quoted(blob.defaultChannel)} does not exist, found ${known.map(quoted).join(', ') || 'none'}`;
        const [only, ...others] = known;
        const sure = blob.defaultChannel !== '' && only !== undefined && others.length === 0;
        const location = locate(blob, 'defaultChannel');
        const found = blob.defaultChannel;
        const correction = sure
          ? { correction: { kind: 'replace' as const, location, found, wanted: only } }
          : {};
        report(message, location, { package: name, hint, ...correction });
      }
    },
  },
  {
    id: 'package/duplicate-version',
    severity: 'error',
    summary: 'Reports bundles of a package that have the same version',
    opm: ['duplicate versions found in bundles: [{1.0.0: [a, b]}]'],
    check(catalog, report) {
      for (const { name, bundles } of catalog.packages.values()) {
        const byVersion = new Map<string, Bundle>();
        for (const bundle of bundles.values()) {
          if (!bundle.version) continue;
          const version = formatVersion(bundle.version) + (bundle.release === '' ? '' : `-${bundle.release}`);
          const other = byVersion.get(version);
          if (!other) {
            byVersion.set(version, bundle);
            continue;
          }
          const message = `package ${quoted(name)}: the bundles ${quoted(other.name)} and ${quoted(bundle.name)} both have version ${version}`;
          const property = bundle.properties.findIndex(({ type }) => type === 'olm.package');
          const location = locate(bundle, 'properties', property, 'value', 'version');
          report(message, location, { package: name, hint: 'give each bundle a different version' });
        }
      }
    },
  },
  {
    id: 'package/duplicate',
    severity: 'error',
    summary: 'Reports packages that are defined more than once in a catalog',
    opm: ['duplicate package "p"'],
    check(catalog, report) {
      for (const blob of catalog.blobs.packages) {
        const first = catalog.packages.get(blob.name)?.blob;
        if (!first || first === blob || blob.name === '') continue;
        const { file, line } = locate(first);
        const message = `duplicate package ${quoted(blob.name)}, first defined at ${file}:${line}`;
        report(message, locate(blob, 'name'), { package: blob.name, hint: 'keep one olm.package blob' });
      }
    },
  },
  {
    id: 'package/name',
    severity: 'error',
    summary:
      'Reports package names that are not a DNS label: lower-case letters, digits and dashes, at most 63 characters',
    opm: ['config contains package with no name', 'invalid package name "p": […]'],
    check(catalog, report) {
      for (const blob of catalog.blobs.packages) {
        if (blob.name === '') {
          report('the package has no name', locate(blob, 'name'), { hint: 'name: my-operator' });
        } else if (!isDnsLabel(blob.name)) {
          const message = `package ${quoted(blob.name)}: the name must be a DNS label (a-z, 0-9 and -, at most 63 characters, a letter or digit at both ends)`;
          report(message, locate(blob, 'name'), {
            package: blob.name,
            hint: `name: ${dnsLabelOf(blob.name)}`,
          });
        }
      }
    },
  },
  {
    id: 'package/no-channel',
    severity: 'error',
    summary: 'Reports packages without a channel',
    opm: ['package must contain at least one channel'],
    check(catalog, report) {
      for (const { name, blob, channels } of catalog.packages.values()) {
        if (!blob || name === '' || channels.size > 0) continue;
        const hint = `add an olm.channel blob with package: ${name}`;
        report(`package ${quoted(name)} has no channel`, locate(blob), { package: name, hint });
      }
    },
  },
  {
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
  },
];

/** The nearest DNS label. */
function dnsLabelOf(name: string): string {
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, 63);
  return label.replaceAll(/^-+|-+$/g, '') || 'my-operator';
}
