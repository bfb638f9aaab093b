/** The `platform` part of an ImageSetConfiguration: releases by reference, or by what channels select. */
import type { Location } from '../../finding.ts';
import { bool, isObject, listOf, type Path, type Shape, structShape, text, textOf } from '../../go/shape.ts';
import { tryParseReference } from '../../reference.ts';
import { compareVersions, tryParseVersion } from '../../version/version.ts';
import type { SelectionReader } from '../helm/chart-selection.ts';
import { withPlatforms } from '../platforms.ts';

/** What is selected of the platform. */
export interface PlatformSelection {
  /** The release payload, by tag or digest. */
  readonly release?: ReleaseReference;
  readonly channels: readonly ReleaseChannel[];
  /** Architectures of the payloads that channels select; never empty. */
  readonly architectures: readonly Architecture[];
  /** Platforms of its images; absent: all. */
  readonly platforms?: readonly string[];
  /** Whether the update graph is mirrored, too, as an image for the OpenShift Update Service. */
  readonly hasGraph: boolean;
  /** Whether the boot image of OpenShift Virtualization belongs to each release. */
  readonly hasKubeVirt: boolean;
  readonly location: Location;
}

interface ReleaseReference {
  readonly reference: string;
  readonly location: Location;
}

/** A channel of an update graph, and which of its releases. */
export interface ReleaseChannel {
  readonly name: string;
  readonly type: 'ocp' | 'okd';
  readonly minVersion?: string;
  readonly maxVersion?: string;
  /** Only the shortest way from the lowest version to the highest one. */
  readonly isShortest: boolean;
  /** Without bounds: all releases, not only the last one. */
  readonly isFull: boolean;
  readonly location: Location;
}

/** Architectures of payloads, as update graphs name them, and as their tags do. */
export const ARCHITECTURES = {
  amd64: 'x86_64',
  arm64: 'aarch64',
  ppc64le: 'ppc64le',
  s390x: 's390x',
  multi: 'multi',
} as const;

export type Architecture = keyof typeof ARCHITECTURES;

/** The shape of the part, as oc-mirror declares it. */
export function platformShape(platformFilter: Shape): Shape {
  return structShape('Platform', {
    graph: bool,
    channels: listOf(
      structShape('ReleaseChannel', {
        name: text,
        type: text,
        minVersion: text,
        maxVersion: text,
        shortestPath: bool,
        full: bool,
      }),
    ),
    architectures: listOf(text),
    platforms: platformFilter,
    release: text,
    kubeVirtContainer: bool,
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads the part `platform`, whose shape fits; every defect is reported. Undefined where nothing of it is selected. */
export function readPlatform(
  platform: unknown,
  path: Path,
  reader: SelectionReader,
): PlatformSelection | undefined {
  if (!isObject(platform)) return undefined;
  const release = releaseIn(platform, [...path, 'release'], reader);
  const channels = channelsIn(platform, [...path, 'channels'], reader);
  const hasGraph = platform['graph'] === true;
  if (!release && channels.length === 0 && !hasGraph) return undefined;
  const { platforms } = reader.platforms(platform, path);
  return {
    ...(release && { release }),
    channels,
    architectures: architecturesIn(platform, [...path, 'architectures'], reader),
    ...withPlatforms(platforms),
    hasGraph,
    hasKubeVirt: platform['kubeVirtContainer'] === true,
    location: reader.locate(path),
  };
}

/** The release that is selected by reference. Reports one without a tag or a digest, and reads it all the same. */
function releaseIn(platform: Fields, at: Path, reader: SelectionReader): ReleaseReference | undefined {
  const written = textOf(platform['release']);
  if (written === '') return undefined;
  const reference = written.replace(/^docker:\/\//, '');
  if (!tryParseReference(reference) || !/[:@]/.test(reference.slice(reference.lastIndexOf('/') + 1)))
    reader.report(`the release ${JSON.stringify(written)} must be an image with a tag or a digest`, at);
  return { reference, location: reader.locate(at) };
}

/** The release channels that are selected. Reports what is wrong with them. */
function channelsIn(platform: Fields, path: Path, reader: SelectionReader): ReleaseChannel[] {
  const channels = Array.isArray(platform['channels']) ? platform['channels'].filter(isObject) : [];
  return channels.map((channel, i) => {
    const at = [...path, i];
    const name = textOf(channel['name']);
    if (name === '') reader.report('a release channel has no name', at);
    if (channels.findIndex((other) => textOf(other['name']) === name) < i)
      reader.report(`the release channel ${JSON.stringify(name)} is listed twice`, [...at, 'name']);
    const type = textOf(channel['type']) || 'ocp';
    // oc-mirror reads it as ocp, too, but does not say so.
    if (type !== 'ocp' && type !== 'okd')
      reader.report(
        `the type ${JSON.stringify(type)} of a release channel is read as ocp: it must be ocp or okd`,
        [...at, 'type'],
        'warning',
      );
    return {
      name,
      type: type === 'okd' ? type : 'ocp',
      ...boundsIn(channel, at, reader),
      isShortest: channel['shortestPath'] === true,
      isFull: channel['full'] === true,
      location: reader.locate(at),
    };
  });
}

/**
 * The lowest and highest version of a release channel that are selected. Reports bounds that are not versions, and a
 * lowest one above the highest one. oc-mirror selects nothing then, or both with `shortestPath`.
 */
function boundsIn(
  channel: Fields,
  path: Path,
  reader: SelectionReader,
): Pick<ReleaseChannel, 'minVersion' | 'maxVersion'> {
  const bounds: { minVersion?: string; maxVersion?: string } = {};
  for (const field of ['minVersion', 'maxVersion'] as const) {
    const version = textOf(channel[field]);
    if (version === '') continue;
    if (!tryParseVersion(version))
      reader.report(`${field} must be a whole version such as 4.20.3, found ${JSON.stringify(version)}`, [
        ...path,
        field,
      ]);
    bounds[field] = version;
  }
  const { minVersion = '', maxVersion = '' } = bounds;
  const [least, most] = [tryParseVersion(minVersion), tryParseVersion(maxVersion)];
  if (least && most && compareVersions(least, most) > 0)
    reader.report(`minVersion ${minVersion} is above maxVersion ${maxVersion}: no release is between them`, [
      ...path,
      'maxVersion',
    ]);
  return bounds;
}

/** The architectures of the selected releases; `multi` if platforms are named, `amd64` if nothing is. */
function architecturesIn(platform: Fields, path: Path, reader: SelectionReader): readonly Architecture[] {
  const written = Array.isArray(platform['architectures']) ? platform['architectures'].map(textOf) : [];
  const hasPlatforms = Array.isArray(platform['platforms']) && platform['platforms'].length > 0;
  if (hasPlatforms && written.length > 0)
    reader.report('platforms and architectures cannot be used together', path);
  for (const [i, architecture] of written.entries()) {
    if (!isArchitecture(architecture))
      reader.report(
        `an architecture must be one of ${Object.keys(ARCHITECTURES).join(', ')}, found ${JSON.stringify(architecture)}`,
        [...path, i],
      );
  }
  // Platforms are chosen from the payload for all of them.
  if (hasPlatforms) return ['multi'];
  const known = [...new Set(written.filter(isArchitecture))];
  return known.length > 0 ? known : ['amd64'];
}

function isArchitecture(text: string): text is Architecture {
  return Object.hasOwn(ARCHITECTURES, text);
}
