/**
 * A folder of package manifests as bundles, one a version, as operator-sdk converts it.
 *
 * @see https://github.com/operator-framework/operator-sdk/blob/master/internal/cmd/operator-sdk/pkgman-to-bundle/cmd.go
 */
import type { Finding } from '../finding.ts';
import { isObject } from '../go/shape.ts';
import { emitYaml } from '../yaml/emit.ts';
import { type BundleLabels, bundleLabels, labelLine, NOT_IN_A_LINE } from './generate.ts';
import type { PackageFolder, PackageManifest, PackageVersion, Report } from './package-manifest.ts';
import { objectIn } from './registry-bundle.ts';

interface ConvertedBundles {
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
  const unfit = [manifest.name, defaultChannel, ...manifest.channels.map(({ name }) => name)].find((name) =>
    NOT_IN_A_LINE.test(name),
  );
  if (unfit !== undefined) {
    report(
      'name',
      `${JSON.stringify(unfit)} cannot be a label: it has a control character`,
      manifest.location,
    );
    return { files, findings };
  }
  // The reader of the package reports folders of several versions.
  const sharedFolders = new Set(versions.map((version) => version.folder).filter(isRepeated));
  for (const version of versions.filter((each) => !sharedFolders.has(each.folder))) {
    if (version.folder === '') {
      const message = `${JSON.stringify(version.name)} has no folder, so its files cannot be told from those of the package`;
      report('version-folder', message, version.location);
      continue;
    }
    const channels = manifest.channels
      .filter(({ currentCsv }) => currentCsv === version.name)
      .map(({ name }) => name);
    if (channels.length === 0) reportLostChannels(version, defaultChannel, report);
    const labels: BundleLabels = {
      mediaType: 'registry+v1',
      package: manifest.name,
      // A channel without a name does not count.
      channels: channels.join(',') === '' ? [defaultChannel] : channels,
      defaultChannel,
    };
    for (const [path, content] of bundleFiles(folder, version, labels)) files.set(path, content);
  }
  return { files, findings };
}

/** The channel of a package that has one, which needs no default. */
function onlyChannel(manifest: PackageManifest | undefined): string | undefined {
  const [first, second] = manifest?.channels ?? [];
  return first && !second && first.name !== '' ? first.name : undefined;
}

/** For `filter`: whether an item of a list is there before as well. */
function isRepeated(item: string, index: number, list: readonly string[]): boolean {
  return list.indexOf(item) !== index;
}

/** Reports a version that was in other channels before, as no channel's head. */
function reportLostChannels({ name, location }: PackageVersion, channel: string, report: Report): void {
  const message = `the bundle of ${JSON.stringify(name)} declares only the channel ${JSON.stringify(channel)}: it is not the head of any channel`;
  report('channels-lost', message, location, 'warning');
}

/** The files of the bundle directory for one version, by path: new texts, or the paths of manifests to copy. */
function* bundleFiles(
  { files }: PackageFolder,
  version: PackageVersion,
  labels: BundleLabels,
): Generator<[string, { text: string } | { from: string }]> {
  const root = `bundle-${version.folder.split('/').at(-1)}`;
  const own = files.filter(({ path }) => path.slice(0, path.lastIndexOf('/')) === version.folder);
  const scorecard = own.find((file) => objectIn(file)?.kind === 'Configuration');
  const pairs: Labels = [...bundleLabels(labels), ...sdkStamps(version)];
  yield [`${root}/bundle.Dockerfile`, { text: dockerfile(pairs, scorecard !== undefined) }];
  for (const file of own) {
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    const to = file === scorecard ? 'tests/scorecard/config.yaml' : `manifests/${name}`;
    yield [`${root}/bundle/${to}`, { from: file.path }];
  }
  const text = `annotations:\n  # Core bundle annotations.\n${yamlLines(pairs)}`;
  const tested = scorecard ? `\n  # Annotations for testing.\n${yamlLines(SCORECARD)}` : '';
  yield [`${root}/bundle/metadata/annotations.yaml`, { text: `${text}${tested}` }];
}

type Labels = readonly (readonly [string, string])[];

const SCORECARD: Labels = [
  ['operators.operatorframework.io.test.mediatype.v1', 'scorecard+v1'],
  ['operators.operatorframework.io.test.config.v1', 'tests/scorecard/'],
];

/** Annotations of a ClusterServiceVersion that say how operator-sdk made it. */
const STAMPS = ['operators.operatorframework.io/builder', 'operators.operatorframework.io/project_layout'];

/** The stamps in a ClusterServiceVersion as labels. A value that does not fit on a line of a Dockerfile is left out. */
function sdkStamps({ bundle: { csv } }: PackageVersion): Labels {
  const metadata = csv?.value['metadata'];
  const annotations = isObject(metadata) && isObject(metadata['annotations']) ? metadata['annotations'] : {};
  return STAMPS.flatMap((key): Labels => {
    const value = annotations[key];
    return typeof value === 'string' && !NOT_IN_A_LINE.test(value) ? [[key, value]] : [];
  });
}

function yamlLines(pairs: Labels): string {
  return pairs.map(([key, value]) => `  ${emitYaml({ [key]: value })}`).join('');
}

function labelLines(pairs: Labels): string {
  return pairs.map(([key, value]) => `${labelLine(key, value)}\n`).join('');
}

/** The Dockerfile as operator-sdk writes it. */
function dockerfile(pairs: Labels, isTested: boolean): string {
  return (
    `FROM scratch\n\n# Core bundle labels.\n${labelLines(pairs)}\n` +
    (isTested ? `# Labels for testing.\n${labelLines(SCORECARD)}\n` : '') +
    '# Copy files to locations specified by labels.\n' +
    'COPY bundle/manifests /manifests/\nCOPY bundle/metadata /metadata/\n' +
    (isTested ? 'COPY bundle/tests/scorecard /tests/scorecard/\n' : '')
  );
}
