/**
 * Whether a deployment can publish, asked before the first merge: each thing that a publish needs is used once, in a
 * way that changes nothing that is published.
 */
import { createHash } from 'node:crypto';
import { repositoryName } from '../catalog/reference.ts';
import { PipelineError } from '../pipeline/error.ts';
import type { Policy } from '../pipeline/policy/policy.ts';
import { readablePolicyAt } from '../pipeline/policy/read-policy.ts';
import type { BlobSource } from '../pipeline/ports.ts';
import { whyUnsigned } from '../pipeline/publish/attest/attest.ts';
import { basesUnder, openBase } from '../pipeline/publish/base.ts';
import { messageOf } from '../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts, OpenBranch } from '../pipeline/publish/delivery/ports.ts';
import { statusOf } from '../pipeline/publish/delivery/status.ts';
import { fenceName } from '../pipeline/publish/fence.ts';
import { publishedCatalogs } from '../pipeline/publish/published-catalogs.ts';
import { placesOf, targetOf } from '../pipeline/publish/target.ts';
import type { Source } from './receive.ts';

/** One thing that a publish needs. */
interface SmokeCheck {
  readonly what: string;
  readonly ok: boolean;
  /** Why not, and what to do. */
  readonly why?: string;
}

export interface SmokeReport {
  readonly ok: boolean;
  readonly checks: readonly SmokeCheck[];
}

/** The fence of no catalog: in the names of theirs, `x-` is followed by a digest. */
const FENCE = 'x-smoke-check/0';
/** Among what builds remember, which may be lost at any time. */
const RECORD = 'memory/smoke-check';
/** An empty JSON object: what is written, pushed and signed. */
const EMPTY = new TextEncoder().encode('{}');
const BLOB: BlobSource = {
  digest: `sha256:${createHash('sha256').update(EMPTY).digest('hex')}`,
  size: EMPTY.length,
  open: async function* (from) {
    yield EMPTY.subarray(from);
  },
};

/**
 * Uses the fence, the records, each source with its policy, each registry that catalogs are published to, and the
 * queue: it gets a push of each branch's newest commit, as a webhook would send it.
 */
export async function runSmokeTest(sources: readonly Source[], ports: DeliveryPorts): Promise<SmokeReport> {
  const checks: SmokeCheck[] = [];
  const check = async (what: string, use: () => Promise<unknown>): Promise<void> => {
    try {
      await use();
      checks.push({ what, ok: true });
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      const { message, hint } = error;
      checks.push({ what, ok: false, why: hint === undefined ? message : `${message}: ${hint}` });
    }
  };
  await check('the fence is written', () => writeFence(ports));
  await check('records are written and read', () => writeRecord(ports));
  await check('all records can be read', () => readRecords(ports));
  for (const source of sources) {
    const { repository, branch } = source;
    const places = new Map<string, () => Promise<unknown>>();
    await check(`${repository} ${branch} is fetched, and its policy can be used`, () =>
      withBranch(source, ports, (open) => readPlaces({ ...open, source }, ports, places)),
    );
    for (const [name, push] of places) await check(`a blob is pushed to ${name}`, push);
    await check(`the queue takes a push of ${repository} ${branch}`, () =>
      withBranch(source, ports, ({ tip: commit }) =>
        ports.queue.send(messageOf({ v: 1, kind: 'push', repository, branch, commit })),
      ),
    );
  }
  return { ok: checks.every(({ ok }) => ok), checks };
}

/** Takes and gives back the lease of a fence that no catalog has. @throws PipelineError `bad-answer` if it is not there then */
async function writeFence({ fence }: DeliveryPorts): Promise<void> {
  // Given back as soon as it is taken; of two checks at once one may be second.
  await fence.replaceLease(FENCE, 0, await fence.readLease(FENCE));
  if (!(await fence.readLease(FENCE))) throw new PipelineError('bad-answer', 'what was written is not there');
}

/** Writes a record and reads it again. @throws PipelineError `bad-answer` if it is not there then */
async function writeRecord({ records }: DeliveryPorts): Promise<void> {
  await records.put(RECORD, EMPTY);
  if (!(await records.get(RECORD))) throw new PipelineError('bad-answer', 'what was written is not there');
}

/** Reads the records of published catalogs and rings: only `portolan status` would otherwise report a corrupt one. */
async function readRecords({ records }: DeliveryPorts): Promise<void> {
  const { unread = [], unreadRings = [] } = await statusOf(records);
  const [first] = [...unread.map((key) => `the record ${key} cannot be read`), ...unreadRings];
  if (first !== undefined)
    throw new PipelineError('corrupt', first, {
      hint: 'see portolan status, and docs/functions.md#disaster-recovery',
    });
}

/** Opens a source's branch for as long as something is done with it. */
async function withBranch(
  { repository, branch }: Source,
  { open }: DeliveryPorts,
  use: (open: OpenBranch) => Promise<void>,
): Promise<void> {
  const opened = await open({ repository, branch });
  try {
    await use(opened);
  } finally {
    await opened.close();
  }
}

/**
 * Reads what a source's policy publishes, without changing anything.
 *
 * @param places filled with what pushes to each registry's repository
 */
async function readPlaces(
  { repository, tip, source }: OpenBranch & { readonly source: Source },
  { registry, fence, signer: key, isAnonymous, releaserOf }: DeliveryPorts,
  places: Map<string, () => Promise<unknown>>,
): Promise<void> {
  const policy = await readablePolicyAt(repository.objects, tip);
  if (policy.release && !source.job && !releaserOf?.(source))
    throw new PipelineError(
      'usage',
      'the policy has `release`, but no job or GitHub App is configured to release bundles',
      {
        hint: "set AppSecret, or job in Sources, so that the repository's job does it",
      },
    );
  for (const catalog of await publishedCatalogs(repository.objects, tip, policy)) {
    const target = targetOf(policy, catalog, {});
    // Fails for a fence that is corrupt, which would stop the publish.
    await fence.read(fenceName(catalog, target.name));
    if (target.base) await openBase(basesUnder(policy, registry), target.base);
    const unsigned = whyUnsigned(target.attest, { key, isAnonymous });
    if (unsigned)
      throw new PipelineError('usage', `${catalog}: ${unsigned.message}`, { hint: unsigned.hint });
    if (target.attest.includes('kms') && key?.kind === 'remote') await key.sign(EMPTY);
    for (const place of placesOf(target)) {
      if (place.kind !== 'registry') continue;
      const { reference } = place;
      places.set(repositoryName(reference), () => registry.putBlob(reference, BLOB));
    }
  }
  if (places.size === 0) throw nothingPublished(policy);
}

/** The error for a policy by which a deployment has nothing to do. */
function nothingPublished({ publish }: Policy): PipelineError {
  const hint = "write publish: {catalogs: {'*': {image: 'quay.io/my-org/catalog:{catalog}'}}}";
  const patterns = publish.catalogs.map(({ pattern }) => pattern).join(', ');
  const why = patterns === '' ? 'it has no publish.catalogs' : `no catalog matches ${patterns}`;
  return new PipelineError('usage', `the policy publishes nothing: ${why}`, { hint });
}
