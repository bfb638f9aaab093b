/**
 * A folder of package manifests as bundles, one a version, as operator-sdk converts it.
 *
 * @see https://github.com/operator-framework/operator-sdk/blob/master/internal/cmd/operator-sdk/pkgman-to-bundle/cmd.go
 */
import type { Finding } from '../finding.ts';
import { type BundleLabels, bundleLabels } from './generate.ts';
import type { PackageFolder, PackageManifest, PackageVersion, Report } from './package-manifest.ts';

export interface ConvertedBundles {
  /** Texts of files, and the paths of files that are copied as they are, by their new path. */
  readonly files: ReadonlyMap<string, { readonly text: string } | { readonly from: string }>;
  readonly findings: readonly Finding[];
}

/**
 * Bundles in folders `bundle-<folder of the version>`. A version that is the head of no
 * channel comes into the default channel alone, which is said in a finding: only a
 * catalog keeps which channels it was in.
 */
export function convertToBundles(folder: PackageFolder): ConvertedBundles {
  const findings: Finding[] = [];
  const report: Report = (rule, message, location, severity = 'error') => {
    findings.push({ rule: `package-manifest/${rule}`, severity, message, location });
  };
  const { manifest, versions } = folder;
  const files = new Map<string, { text: string } | { from: string }>();
  const defaultChannel = manifest?.defaultChannel || onlyChannel(manifest);
  if (!manifest || manifest.name === '' || defaultChannel === undefined) return { files, findings };
  const crowded = new Set(versions.map((version) => version.folder).filter(isRepeated));
  for (const version of versions.filter((each) => !crowded.has(each.folder))) {
    const channels = manifest.channels
      .filter(({ currentCsv }) => currentCsv === version.name)
      .map(({ name }) => name);
    if (channels.length === 0) reportMoved(version, defaultChannel, report);
    const labels: BundleLabels = {
      mediaType: 'registry+v1',
      package: manifest.name,
      channels: channels.length === 0 ? [defaultChannel] : channels,
      defaultChannel,
    };
    for (const [path, content] of bundleFiles(folder, version, labels)) files.set(path, content);
  }
  return { files, findings };
}

function onlyChannel(manifest: PackageManifest | undefined): string | undefined {
  const [first, second] = manifest?.channels ?? [];
  return first && !second && first.name !== '' ? first.name : undefined;
}

function isRepeated(item: string, index: number, list: readonly string[]): boolean {
  return list.indexOf(item) !== index;
}

function reportMoved({ name, location }: PackageVersion, channel: string, report: Report): void {
  const message = `the bundle of ${JSON.stringify(name)} declares only the channel ${JSON.stringify(channel)}: it is not the head of any channel`;
  report('channels-lost', message, location, 'warning');
}

function* bundleFiles(
  { files }: PackageFolder,
  version: PackageVersion,
  labels: BundleLabels,
): Generator<[string, { text: string } | { from: string }]> {
  const root = `bundle-${version.folder.split('/').at(-1)}`;
  const pairs = bundleLabels(labels);
  yield [`${root}/bundle.Dockerfile`, { text: dockerfile(pairs) }];
  for (const { path } of files) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (path === `${version.folder}/${name}`) yield [`${root}/bundle/manifests/${name}`, { from: path }];
  }
  const lines = pairs.map(([key, value]) => `  ${key}: ${value}\n`).join('');
  const text = `annotations:\n  # Core bundle annotations.\n${lines}`;
  yield [`${root}/bundle/metadata/annotations.yaml`, { text }];
}

function dockerfile(labels: readonly (readonly [string, string])[]): string {
  const lines = labels.map(([key, value]) => `LABEL ${key}=${value}\n`).join('');
  return (
    `FROM scratch\n\n# Core bundle labels.\n${lines}\n# Copy files to locations specified by labels.\n` +
    'COPY bundle/manifests /manifests/\nCOPY bundle/metadata /metadata/\n'
  );
}
