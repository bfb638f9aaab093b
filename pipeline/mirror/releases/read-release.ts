/** The releases of an ImageSetConfiguration: their payloads, the images of them, and their signatures. */
import { rmSync } from 'node:fs';
import type { Finding, Location } from '../../../catalog/finding.ts';
import type { Target } from '../../../catalog/mirror/destination-names.ts';
import type { ImageGroup } from '../../../catalog/mirror/image-group.ts';
import { withPlatforms } from '../../../catalog/mirror/platforms.ts';
import {
  ChannelError,
  releasesAcross,
  releasesOf,
} from '../../../catalog/mirror/release/channel-releases.ts';
import {
  ARCHITECTURES,
  type Architecture,
  type PlatformSelection,
  type ReleaseChannel,
} from '../../../catalog/mirror/release/release-selection.ts';
import type { ReleaseSignature } from '../../../catalog/mirror/release/signatures.ts';
import type { UpdateGraphs } from '../../../catalog/mirror/release/update-graph.ts';
import { parseReference, type Reference, tryParseReference } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import { temporaryFolder } from '../../write.ts';
import type { ReadCharts } from '../prepare.ts';
import { type Payload, readPayload } from './payload.ts';
import { releaseSignatures, type SignatureStore } from './signatures.ts';
import { openGraphs, type ReleasePlaces, UPDATE_SERVICES } from './update-graphs.ts';

interface ReleasePorts extends Omit<ReleasePlaces, 'close'> {
  /** Absent: the releases are mirrored without signatures. */
  readonly signatures: SignatureStore | undefined;
}

interface ReleaseOutcome extends ReadCharts {
  readonly signatures: readonly ReleaseSignature[];
}

/** Reads the releases of a configuration; what is wrong with one is a finding, and does not stop the others. */
export async function readReleases(
  selection: PlatformSelection,
  ports: ReleasePorts,
): Promise<ReleaseOutcome> {
  const scratch = temporaryFolder('release');
  try {
    const { release } = selection;
    const named: WantedRelease[] = release
      ? [{ reference: release.reference, location: release.location }]
      : [];
    const { wanted, findings, groups } = await wantedReleases(selection, { ...ports, scratch });
    const outcomes: ReleaseOutcome[] = [];
    for (const one of [...named, ...wanted])
      outcomes.push(await readRelease(one, selection, { ...ports, scratch }));
    return {
      groups: [...groups, ...outcomes.flatMap((one) => one.groups)],
      findings: [...findings, ...outcomes.flatMap((one) => one.findings)],
      signatures: outcomes.flatMap((one) => one.signatures),
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A payload to mirror. */
interface WantedRelease {
  readonly reference: string;
  /** As the update graph has it. */
  readonly version?: string;
  readonly architecture?: Architecture;
  readonly location: Location;
}

interface Scratch {
  readonly scratch: string;
}

interface WantedReleases {
  /** Each once. */
  readonly wanted: readonly WantedRelease[];
  readonly findings: readonly Finding[];
  /** Channels of which it is not known what they select. */
  readonly groups: readonly ImageGroup[];
}

/** What the channels select, for each architecture. */
async function wantedReleases(
  { channels, architectures }: PlatformSelection,
  ports: ReleasePorts & Scratch,
): Promise<WantedReleases> {
  const wanted = new Map<string, WantedRelease>();
  const findings: Finding[] = [];
  const groups: ImageGroup[] = [];
  for (const architecture of architectures) {
    const unreadBefore = groups.length;
    const graphs = graphsFor(architecture, channels, ports);
    const select = async (
      { location }: ReleaseChannel,
      name: string,
      work: () => ReturnType<typeof releasesOf>,
    ): Promise<void> => {
      try {
        const { releases, warnings } = await work();
        for (const { image, version } of releases)
          if (!wanted.has(image)) wanted.set(image, { reference: image, version, architecture, location });
        for (const message of warnings)
          findings.push({ rule: 'mirror/release', severity: 'warning', message, location });
      } catch (error) {
        const failure = error instanceof ChannelError ? new PipelineError('usage', error.message) : error;
        if (!(failure instanceof PipelineError)) throw error;
        findings.push(releaseFinding(location, failure));
        groups.push(unreadGroup(name));
      }
    };
    for (const channel of channels) {
      const name = `channel ${channel.name} (${architecture})`;
      await select(channel, name, () => releasesOf(channel, graphs(channel)));
    }
    // oc-mirror also takes the releases between the channels of OCP. They are not known if one of this architecture's is not.
    const ocp = channels.filter(({ type }) => type === 'ocp');
    const [first] = ocp;
    if (first && channels.length > 1 && groups.length === unreadBefore)
      await select(first, `channels (${architecture})`, () => releasesAcross(ocp, graphs(first)));
  }
  return { wanted: [...wanted.values()], findings, groups };
}

/** Gives the update graphs of a channel: those of its product (`type`, OCP or OKD), opened once for an architecture. */
function graphsFor(
  architecture: Architecture,
  channels: readonly ReleaseChannel[],
  { graphs: place, ...ports }: ReleasePorts & Scratch,
): (channel: ReleaseChannel) => UpdateGraphs {
  const types = new Set(channels.map(({ type }) => type));
  const opened = new Map(
    [...types].map((type) => [
      type,
      openGraphs(architecture, { ...ports, place: place ?? UPDATE_SERVICES[type] }),
    ]),
  );
  return ({ type }) => {
    const graphs = opened.get(type);
    if (!graphs) throw new TypeError('internal error: no graphs are open');
    return graphs;
  };
}

/** Reads the images and signatures of a release; a finding if that fails. */
async function readRelease(
  wanted: WantedRelease,
  selection: PlatformSelection,
  { registry, signatures: store, scratch }: ReleasePorts & Scratch,
): Promise<ReleaseOutcome> {
  try {
    const reference = parsedReference(wanted);
    const payload = await readPayload(reference, { registry, scratch }, virtualOf(selection));
    checkVersion(payload, reference, wanted);
    const signatures = store ? await releaseSignatures(payload.reference.digest, store) : [];
    const signed = signatures[0]?.name;
    return { groups: [groupOf(payload, wanted, { signed, ...selection })], findings: [], signatures };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return {
      groups: [unreadGroup(nameOf(wanted))],
      findings: [releaseFinding(wanted.location, error)],
      signatures: [],
    };
  }
}

/** Architectures of which the boot images of OpenShift Virtualization are wanted. */
function virtualOf({ hasKubeVirt, platforms, architectures }: PlatformSelection): readonly string[] {
  if (!hasKubeVirt) return [];
  // `arm64` of `linux/arm64`.
  return platforms ? platforms.map((platform) => platform.split('/')[1] ?? '') : architectures;
}

/** A release for messages: its version where an update graph gives it, and its reference. */
function nameOf({ reference, version }: WantedRelease): string {
  return version === undefined ? reference : `${version} (${reference})`;
}

/** The reference of a release's payload. @throws PipelineError `usage` for a graph with a payload that is not an image */
function parsedReference(wanted: WantedRelease): Reference {
  const reference = tryParseReference(wanted.reference);
  if (reference) return reference;
  throw new PipelineError('usage', `the payload of ${nameOf(wanted)} is not a valid reference`);
}

/**
 * A good signature says that this was a release once: an older one, under the tag of a newer one or in its place in an
 * update graph, has it, too. Tags that are not versions may name any release.
 *
 * @throws PipelineError `corrupt`
 */
function checkVersion(
  { version }: Payload,
  { tag = '' }: Reference,
  { version: expected }: WantedRelease,
): void {
  // A tag may go on behind the version, with an architecture: `4.20.3-x86_64`.
  const hint = 'name the release by its digest, or find out who moved the tag';
  if (/^\d+\.\d+\.\d+/.test(tag) && tag !== version && !tag.startsWith(`${version}-`))
    throw new PipelineError('corrupt', `the release under the tag ${tag} is version ${version}`, { hint });
  // An update graph may have the architecture behind the version: `4.20.3+amd64`.
  if (expected !== undefined && expected.split('+', 1)[0] !== version)
    throw new PipelineError(
      'corrupt',
      `the update graph says that the payload is version ${expected}, but it is version ${version}`,
    );
}

/** Where oc-mirror and `oc adm release mirror` put payloads, and the images of them. */
const PAYLOADS = 'openshift/release-images';
const COMPONENTS = 'openshift/release';

interface GroupNames {
  /** The name that the signature gives to the payload. */
  readonly signed: string | undefined;
  readonly platforms?: readonly string[];
}

/** The images of a release with their places in the mirror, as oc-mirror names them. */
function groupOf(
  { reference, version, images }: Payload,
  { reference: written, architecture }: WantedRelease,
  { signed, platforms }: GroupNames,
): ImageGroup {
  const { registry, repository, digest } = reference;
  // The tag that the configuration, else the signature gives; else the one that Red Hat would give.
  const tag =
    parseReference(written).tag ??
    tryParseReference(signed ?? '')?.tag ??
    (architecture && `${version}-${ARCHITECTURES[architecture]}`);
  const payload = `${registry}/${repository}${tag === undefined ? '' : `:${tag}`}@${digest}`;
  const name = tag ?? version;
  const targets = new Map<string, Target>([[payload, { repository: PAYLOADS, tag: name }]]);
  for (const image of images)
    targets.set(image.reference, { repository: COMPONENTS, tag: `${name}-${image.name}` });
  return {
    kind: 'release',
    name: 'OpenShift',
    version,
    origin: written,
    references: [...targets.keys()],
    targets,
    locations: new Map(),
    ...withPlatforms(platforms),
  };
}

/**
 * The placeholder for a release or channel that could not be read: without it, the plan would look complete.
 */
function unreadGroup(name: string): ImageGroup {
  return {
    kind: 'release',
    name,
    version: '',
    origin: name,
    references: [],
    locations: new Map(),
    isPartial: true,
  };
}

/** What is wrong with a release, as a finding. */
export function releaseFinding(location: Location, { message, hint }: PipelineError, subject = ''): Finding {
  return {
    rule: 'mirror/release',
    severity: 'error',
    message: subject + message,
    location,
    ...(hint === undefined ? {} : { hint }),
  };
}
