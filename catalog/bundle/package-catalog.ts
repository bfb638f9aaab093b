/**
 * A folder of package manifests as a file-based catalog: each channel holds what can be
 * reached from its head by `replaces` and `skips`.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.47.0/pkg/sqlite/load.go
 */

import type { Finding } from '../finding.ts';
import { goList, goObject } from '../go/json-marshal.ts';
import { indentedJson, jsonString, RawJson } from '../go/json-text.ts';
import { compareText } from '../go/text.ts';
import { tryParseVersion } from '../version/version.ts';
import { csvIcon } from './csv-icon.ts';
import type { PackageFolder, PackageManifest, PackageVersion, Report } from './package-manifest.ts';
import { renderedProperties } from './properties.ts';
import { BundleRefusal } from './registry-bundle.ts';
import { relatedImagesOf } from './render.ts';

interface ConvertedPackage {
  /** The catalog as a stream of JSON; undefined when there is none. */
  readonly json: string | undefined;
  readonly findings: readonly Finding[];
}

/** What OLM's loader refuses while it reads the versions; it then makes no catalog at all. */
const REFUSED: ReadonlySet<string> = new Set([
  'package-manifest/csv-duplicate',
  'package-manifest/csv-unreadable',
  'package-manifest/owned-missing',
]);

/** Converts a package as OLM's own loader did; what is left out is a finding. */
export function convertPackage({
  manifest,
  versions,
  findings: readingFindings,
}: PackageFolder): ConvertedPackage {
  const findings: Finding[] = [];
  const report: Report = (rule, message, location, severity = 'error') => {
    findings.push({ rule: `package-manifest/${rule}`, severity, message, location });
  };
  const catalog = manifest && manifest.name !== '' ? catalogJson(manifest, versions, report) : undefined;
  const json = readingFindings.some(({ rule }) => REFUSED.has(rule)) ? undefined : catalog;
  return { json, findings };
}

/**
 * The blobs of the catalog as JSON; undefined where OLM's loader would refuse the package, with the reasons in the
 * report.
 */
function catalogJson(
  manifest: PackageManifest,
  versions: readonly PackageVersion[],
  report: Report,
): string | undefined {
  const byName = new Map(versions.map((version) => [version.name, version]));
  const channels = new Map<string, ReadonlySet<PackageVersion>>();
  for (const channel of manifest.channels) {
    const members = channelMembers(channel.currentCsv, byName, report);
    if (typeof members === 'string') report('current-unknown', members, channel.location);
    else if (members) channels.set(channel.name, members);
  }
  const defaultChannel = effectiveDefault(manifest);
  const head = manifest.channels.find(({ name }) => name === defaultChannel)?.currentCsv;
  const used = new Set([...channels.values()].flatMap((members) => [...members]));
  for (const version of versions) if (!used.has(version)) reportOrphan(version, report);
  // A channel without a name is reported where it is read.
  const isWhole = channels.size === manifest.channels.length && !channels.has('');
  // Both are called, so that one report has the defects of both.
  const isSound = [checkVersions(used, report), checkHeads(manifest, channels, report)].every(Boolean);
  if (!isWhole || head === undefined || !isSound) return undefined;
  try {
    const texts = [
      packageJson(manifest.name, defaultChannel, byName.get(head)),
      ...sorted([...channels], ([name]) => name).map(([name, members]) =>
        channelJson(name, manifest.name, members),
      ),
      ...sorted([...used], ({ name }) => name).map((version) => bundleJson(version, manifest.name)),
    ];
    return texts.map((text) => `${indentedJson(new RawJson(text))}\n`).join('');
  } catch (error) {
    if (!(error instanceof BundleRefusal)) throw error;
    report('csv-unreadable', error.message, error.location);
    return undefined;
  }
}

function reportOrphan({ name, location }: PackageVersion, report: Report): void {
  const message = `${JSON.stringify(name)} is dropped: it is not in the replaces chain of any channel, and not skipped`;
  report('orphan', message, location, 'warning');
}

function sorted<T>(items: readonly T[], name: (item: T) => string): T[] {
  return [...items].sort((a, b) => compareText(name(a), name(b)));
}

/** The channel that a package has by default: the one it names, or the only one. */
function effectiveDefault({ channels, defaultChannel }: PackageManifest): string | undefined {
  if (channels.length === 1) return channels[0]?.name;
  return channels.find(({ name }) => name === defaultChannel)?.name;
}

/**
 * The versions in a channel, from its head down.
 *
 * @returns a text if the head does not exist, undefined if the chain is broken
 */
function channelMembers(
  head: string,
  byName: ReadonlyMap<string, PackageVersion>,
  report: Report,
): ReadonlySet<PackageVersion> | string | undefined {
  let at = byName.get(head);
  if (!at) return `its currentCSV ${JSON.stringify(head)} does not exist`;
  const walked = new Set<PackageVersion>();
  const skipped = new Set<PackageVersion>();
  for (;;) {
    walked.add(at);
    for (const skip of at.skips) {
      const found = byName.get(skip);
      if (found) skipped.add(found);
    }
    if (at.replaces === '') return new Set([...walked, ...skipped]);
    const next = byName.get(at.replaces);
    const edge = `${JSON.stringify(at.name)} replaces ${JSON.stringify(at.replaces)}`;
    if (!next) {
      report('replaces-missing', `${edge}, which does not exist`, at.location);
      return undefined;
    }
    if (walked.has(next)) {
      report('cycle', `${edge}, which closes a cycle`, at.location);
      return undefined;
    }
    at = next;
  }
}

/**
 * Checks that each version is a semantic version that no other has; reports those that are not.
 *
 * @returns whether all are
 */
function checkVersions(versions: ReadonlySet<PackageVersion>, report: Report): boolean {
  const defective = [...versions].filter(({ version }) => !tryParseVersion(version));
  for (const { name, version, location } of defective) {
    const found = version === '' ? 'none' : JSON.stringify(version);
    report(
      'version',
      `${JSON.stringify(name)} must have a semantic version in spec.version, found ${found}`,
      location,
    );
  }
  const byVersion = new Map<string, PackageVersion>();
  for (const each of sorted([...versions], ({ name }) => name)) {
    const first = byVersion.get(each.version);
    if (!first) byVersion.set(each.version, each);
    else if (!defective.includes(each)) {
      const names = `${JSON.stringify(first.name)} and ${JSON.stringify(each.name)}`;
      report('version-duplicate', `${names} have the same version ${each.version}`, each.location);
      defective.push(each);
    }
  }
  return defective.length === 0;
}

/**
 * Checks that each channel has a head; reports channels in which each version is replaced or skipped.
 *
 * @returns whether all have one
 */
function checkHeads(
  { channels }: PackageManifest,
  members: ReadonlyMap<string, ReadonlySet<PackageVersion>>,
  report: Report,
): boolean {
  const headless = channels.filter(({ name }) => {
    const inside = [...(members.get(name) ?? [])];
    const passed = new Set(inside.flatMap(({ replaces, skips }) => [replaces, ...skips]));
    return inside.length > 0 && inside.every((version) => passed.has(version.name));
  });
  for (const { name, currentCsv, location } of headless) {
    const isSkipped = [...(members.get(name) ?? [])].some(({ skips }) => skips.includes(currentCsv));
    // Cycles of `replaces` are refused before: only a version that is itself skipped may replace the currentCSV.
    const how = isSkipped ? 'skipped' : 'replaced by a version that is skipped';
    const message = `channel ${JSON.stringify(name)} has no head: its currentCSV ${JSON.stringify(currentCsv)} is ${how}`;
    report('head', message, location);
  }
  return headless.length === 0;
}

/** The `olm.package` blob as JSON, with the icon of the default channel's head. */
function packageJson(
  name: string,
  defaultChannel: string | undefined,
  head: PackageVersion | undefined,
): string {
  return goObject([
    ['schema', '"olm.package"'],
    ['name', jsonString(name)],
    ['defaultChannel', jsonString(defaultChannel ?? '')],
    ['icon', head && iconJson(head)],
  ]);
}

/** The icon of a ClusterServiceVersion; undefined when it has none that could be read. */
function iconJson({ bundle }: PackageVersion): string | undefined {
  const icon = csvIcon(bundle.csv.value);
  if (!icon) return undefined;
  return goObject([
    ['base64data', jsonString(icon.base64data)],
    ['mediatype', jsonString(icon.mediatype)],
  ]);
}

/** The `olm.channel` blob of one channel, as JSON. */
function channelJson(name: string, packageName: string, members: ReadonlySet<PackageVersion>): string {
  const entries = sorted([...members], (member) => member.name).map((member) =>
    goObject([
      ['name', jsonString(member.name)],
      ['replaces', member.replaces === '' ? undefined : jsonString(member.replaces)],
      ['skips', goList(member.skips.map(jsonString))],
      ['skipRange', member.skipRange === '' ? undefined : jsonString(member.skipRange)],
    ]),
  );
  return goObject([
    ['schema', '"olm.channel"'],
    ['name', jsonString(name)],
    ['package', jsonString(packageName)],
    ['entries', `[${entries.join(',')}]`],
  ]);
}

/** The `olm.bundle` blob of one version, as the JSON that opm would write. @throws BundleRefusal */
function bundleJson({ name, bundle }: PackageVersion, packageName: string): string {
  const properties = renderedProperties({ ...bundle, package: packageName });
  const images = relatedImagesOf(bundle.csv, '').sort((a, b) => compareText(a.image, b.image));
  return goObject([
    ['schema', '"olm.bundle"'],
    ['name', jsonString(name)],
    ['package', jsonString(packageName)],
    ['image', '""'],
    [
      'properties',
      goList(properties.map(({ type, json }) => `{"type":${jsonString(type)},"value":${json}}`)),
    ],
    [
      'relatedImages',
      goList(images.map((image) => `{"name":${jsonString(image.name)},"image":${jsonString(image.image)}}`)),
    ],
  ]);
}
