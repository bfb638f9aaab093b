/** The release of an ImageSetConfiguration: its payload, the images of it, and its signatures. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../../../catalog/finding.ts';
import type { ImageGroup } from '../../../catalog/mirror/image-group.ts';
import type { Target } from '../../../catalog/mirror/oc-mirror.ts';
import { withPlatforms } from '../../../catalog/mirror/platforms.ts';
import type { ReleaseSelection } from '../../../catalog/mirror/release/release-selection.ts';
import type { ReleaseSignature } from '../../../catalog/mirror/release/signatures.ts';
import { parseReference, tryParseReference } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Registry } from '../../ports.ts';
import type { ReadCharts } from '../prepare.ts';
import { type Payload, readPayload } from './payload.ts';
import { releaseSignatures, type SignatureStore } from './signatures.ts';

export interface ReleasePorts {
  readonly registry: Registry;
  /** Absent: the release is mirrored without signatures. */
  readonly signatures: SignatureStore | undefined;
}

export interface ReleaseOutcome extends ReadCharts {
  readonly signatures: readonly ReleaseSignature[];
}

/** Reads a release; what is wrong with it is a finding, and does not stop the rest. */
export async function readRelease(
  selection: ReleaseSelection,
  { registry, signatures: store }: ReleasePorts,
): Promise<ReleaseOutcome> {
  const scratch = mkdtempSync(join(tmpdir(), 'portolan-release-'));
  try {
    const payload = await readPayload(parseReference(selection.reference), registry, scratch);
    checkVersion(payload, selection);
    const signatures = store ? await releaseSignatures(payload.reference.digest, store) : [];
    return { groups: [groupOf(payload, selection, signatures[0]?.name)], findings: [], signatures };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return { groups: [unread(selection)], findings: [failed(selection, error)], signatures: [] };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * A good signature says that this was a release once: an older one, under the tag of a newer one, has it, too. Tags that are
 * not versions may name any release.
 *
 * @throws PipelineError `corrupt`
 */
function checkVersion({ version }: Payload, { reference }: ReleaseSelection): void {
  const { tag = '' } = parseReference(reference);
  if (!/^\d+\.\d+\.\d+/.test(tag) || tag === version || tag.startsWith(`${version}-`)) return;
  throw new PipelineError('corrupt', `the release under the tag ${tag} is version ${version}`, {
    hint: 'name the release by its digest, or find out who moved the tag',
  });
}

/** Where oc-mirror and `oc adm release mirror` put payloads, and the images of them. */
const PAYLOADS = 'openshift/release-images';
const COMPONENTS = 'openshift/release';

function groupOf(
  { reference, version, images }: Payload,
  { reference: written, platforms }: ReleaseSelection,
  signed: string | undefined,
): ImageGroup {
  const { registry, repository, digest } = reference;
  const tag = parseReference(written).tag ?? tryParseReference(signed ?? '')?.tag;
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

function unread({ reference }: ReleaseSelection): ImageGroup {
  return {
    kind: 'release',
    name: reference,
    version: '',
    origin: reference,
    references: [],
    locations: new Map(),
    isPartial: true,
  };
}

function failed({ location }: ReleaseSelection, { message, hint }: PipelineError): Finding {
  return {
    rule: 'mirror/release',
    severity: 'error',
    message,
    location,
    ...(hint === undefined ? {} : { hint }),
  };
}
