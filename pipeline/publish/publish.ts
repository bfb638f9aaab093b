/**
 * The publishing of one merge: a catalog of a commit becomes an index image in a registry or a
 * directory, and the documents that clusters without a network of their own need.
 */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Finding } from '../../catalog/finding.ts';
import { type DocumentOptions, EXTRACTED } from '../../catalog/mirror/documents/documents.ts';
import { PLAN_FILES, type PlanFilesRequest, planFiles } from '../../catalog/mirror/files.ts';
import { RULES } from '../../catalog/rules/index.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { catalogToBuild } from '../change/commit-catalogs.ts';
import { PipelineError } from '../error.ts';
import { prepareMirror } from '../mirror/prepare.ts';
import { type BuildOptions, type BuiltCatalog, buildCatalogImage } from '../oci/image/build.ts';
import type { ReadLayer } from '../oci/image/build-context.ts';
import type { CatalogImage } from '../oci/image/image.ts';
import { checkContents } from '../oci/image/package-verdicts.ts';
import { formatLocation, type ImageLocation } from '../oci/registry/image-location.ts';
import { openLayout } from '../oci/registry/layout/layout.ts';
import { layoutRegistry } from '../oci/registry/layout/registry.ts';
import { signatureDemands } from '../policy/registries.ts';
import { severitiesOf } from '../policy/severity.ts';
import { applyWaivers } from '../policy/waiver.ts';
import type { Registry } from '../ports.ts';
import { amountText } from '../text.ts';
import { type StagedFiles, stageFiles, temporaryFolder } from '../write.ts';
import { type AttestRequest, attestBy, attestImages } from './attest/attest.ts';
import { EXTRA_STATEMENTS } from './attest/extra-statements.ts';
import { basesUnder, type OpenBase, openBase } from './base.ts';
import { type Guard, type Guarded, guardOf } from './fence-guard.ts';
import { PAGE, publicationPage } from './page.ts';
import {
  type Ended,
  type PlannedPublish,
  type Published,
  type PublishPorts,
  type PublishRequest,
  type PublishStep,
  planPublish,
} from './plan.ts';
import { type PushJob, sendCatalogImages, summedReport } from './push.ts';
import { type PublishReceipt, receiptOf, receiptText } from './receipt.ts';
import { keepNewest } from './retention.ts';
import type { PublishTarget } from './target.ts';

/** The receipt's file in the output directory. */
const RECEIPT = 'receipt.json';

/**
 * Publishes a catalog. The tag moves last; the files are complete before it moves and are seen after.
 *
 * @throws PipelineError `not-found` for a commit, catalog or base image that is not there, `usage` for
 *   choices that cannot be followed, `io`, and whatever the registry answers
 */
export async function publishCatalog(ports: PublishPorts, request: PublishRequest): Promise<Published> {
  const timed = timerOf(ports);
  const planned = await timed('plan', () => planPublish(ports, request));
  if (planned.kind !== 'planned') return planned;
  const scratch = scratchFolder();
  try {
    const built = await timed('build', () => buildPublish(planned, scratch));
    if (built.kind !== 'built') return built;
    const staged = await timed('documents', () => stageDocuments(built));
    try {
      return await timed('push', () => pushAndTag(staged));
    } catch (error) {
      staged.documents.discard();
      throw error;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

type Timer = <T>(step: PublishStep, work: () => Promise<T>) => Promise<T>;

/** Tells how long each step took, also one that failed. */
function timerOf({ measured }: Pick<PublishPorts, 'measured'>): Timer {
  return async (step, work) => {
    const began = performance.now();
    try {
      return await work();
    } finally {
      measured?.(step, (performance.now() - began) / 1000);
    }
  };
}

/** A temporary folder for layers. @throws PipelineError `io` that names where it was to be made */
function scratchFolder(): string {
  try {
    return temporaryFolder('build');
  } catch (cause) {
    throw new PipelineError('io', `no directory for layers can be made in ${tmpdir()}`, { cause });
  }
}

/** A publish whose documents are written but not visible yet. */
interface StagedPublish extends BuiltPublish {
  readonly receipt: PublishReceipt;
  /** Texts of the documents, by file name. */
  readonly files: ReadonlyMap<string, string>;
  readonly documents: StagedFiles;
}

/** Writes the receipt, the mirror plan and the page next to their final places. */
async function stageDocuments(build: BuiltPublish): Promise<StagedPublish> {
  const { request, commit, policy, target, source, base, built, findings } = build;
  const receipt = receiptOf(built, { catalog: request.catalog, commit, target, base: base?.image });
  const files = new Map([[RECEIPT, receiptText(receipt)]]);
  const mirror = await mirrorFiles(source, target, receipt);
  if (mirror) for (const [name, text] of planFiles(mirror)) files.set(name, text);
  if (request.page)
    files.set(PAGE, await publicationPage(source, { receipt, findings, limits: policy.limits }));
  const documents = stageFiles(request.out, files, [...PLAN_FILES, PAGE]);
  return { ...build, receipt, files, documents };
}

/**
 * Plans the mirror of a published catalog.
 *
 * @returns what the plan's files are made of; undefined when nothing is mirrored
 * @throws PipelineError `usage` for a mirror that cannot be named so
 */
async function mirrorFiles(
  source: CatalogSource,
  { mirrorTo, reference }: PublishTarget,
  { digest, base }: PublishReceipt,
): Promise<PlanFilesRequest | undefined> {
  if (mirrorTo === undefined || reference === undefined) return undefined;
  // Without a base the image has no server: the cluster's own opm reads the catalog out of it.
  const extractContent = base === undefined ? EXTRACTED : undefined;
  const documents: DocumentOptions = { catalogSource: extractContent ? { extractContent } : {} };
  const outcome = await prepareMirror({
    catalogs: [{ source, reference, digest }],
    to: mirrorTo,
    documents,
  });
  return { ...outcome, options: documents };
}

/** Pushes the images, attests them, moves the tags, and makes the documents visible. */
async function pushAndTag(staged: StagedPublish): Promise<Published> {
  const { ports, target, built, findings, receipt, guard, documents } = staged;
  for (const step of replanningText(built)) ports.progress(step);
  ports.progress(
    `pushing ${amountText(built.packages, 'package')} in ${amountText(built.layers, 'layer')} to ${target.name}`,
  );
  const sent = await sendCatalogImages(ports.registry, jobsOf(staged));
  const attesting = attestRequestOf(staged).then((request) => attestImages(sent.standing, request));
  await attesting.catch(async (error: unknown) => {
    await sent.discard();
    throw error;
  });
  // Before the tag that moves: whatever that one has named can be found again.
  for (const name of await sent.tagForGood()) ports.progress(`tagged ${name}`);
  const push = summedReport(await sent.tag());
  // A newer commit that made the same image published this one, too.
  const winner = guard?.winner();
  if (winner && winner.digest !== receipt.digest) {
    documents.discard();
    return { kind: 'superseded', findings, commit: staged.commit, by: winner, image: target.name };
  }
  const files = documents.commit();
  await keepNewest(staged, [receipt.digest, ...(winner ? [winner.digest] : [])]);
  return { kind: 'published', findings, receipt, push, files };
}

/** What it costs when a build divides packages into layers differently from the previous one. */
function replanningText({ replannedRoom, made, layers }: BuiltCatalog): string[] {
  if (!replannedRoom) return [];
  const { from, to } = replannedRoom;
  const words = (room: number): string =>
    room === 0
      ? 'one layer per package'
      : `layers that packages share, up to ${(room / 1e6).toPrecision(3)} MB`;
  return [
    `changing from ${words(from)} to ${words(to)}: rebuilding ${made} of ${amountText(layers, 'layer')}`,
  ];
}

/** What is attested of a staged publish. */
async function attestRequestOf(staged: StagedPublish): Promise<AttestRequest> {
  const { ports, request, commit, policy, target, built, receipt } = staged;
  const { cache, codec, labels } = target.settings;
  const { catalog, today } = request;
  const { repository } = ports;
  const options =
    request.attest ?? attestBy(target.attest, { key: ports.signer, isAnonymous: ports.isAnonymous });
  // Only extra statements compare: no other publish asks the fences of further tags before it moves them.
  const isCompared = EXTRA_STATEMENTS.some(({ asked }) => options?.statements?.includes(asked));
  const previous = isCompared ? await previousCommits(staged) : [];
  return {
    options,
    built,
    receipt,
    settings: { cache, compression: codec, labels },
    publication: { repository, catalog, commit, policy, previous, today },
  };
}

/** Ids of the commits that the tags of the image name so far, each once: clusters of every tag get the image. */
async function previousCommits({ target, guard, guarded }: StagedPublish): Promise<string[]> {
  const guards = [guard, ...target.also.map((place) => guardAt(place, guarded))];
  const previous = await Promise.all(guards.map((one) => one?.previous()));
  return [...new Set(previous.filter((commit) => commit !== undefined))];
}

/** The guard of a further place. Documents are recorded for the first place alone. */
function guardAt(place: ImageLocation, guarded: Guarded): Guard | undefined {
  return guardOf({ to: place, name: formatLocation(place) }, { ...guarded, records: undefined });
}

/** Each place has a fence of its own: the slim image has another digest. The documents are those of the first. */
function jobsOf(staged: StagedPublish): PushJob[] {
  const { target, version, built, base, guard, guarded, files } = staged;
  const { to, also, slim, untagged } = target;
  const commit = { commit: staged.commit, epoch: guard?.epoch() ?? 0 };
  const fencedJob = (
    place: ImageLocation,
    image: CatalogImage,
    rest: Pick<PushJob, 'base' | 'plan' | 'page'>,
  ): PushJob => {
    // The plan has asked the first place's guard already: it knows the claim before.
    const own = place === to ? guard : guardAt(place, guarded);
    return {
      image,
      place,
      untagged,
      version,
      commit,
      promote: own?.promote(image.manifestList.digest, files),
      ...rest,
    };
  };
  const attached = { base, plan: planOf(target, files), page: files.get(PAGE) };
  const jobs = [to, ...also].map((place) => fencedJob(place, built.image, attached));
  // The documents name the digest of the first image, and the slim one is built on nothing.
  return slim ? [...jobs, fencedJob(slim, built.slim, { base: undefined })] : jobs;
}

/** The plan's files, to be attached to the image; the receipt and the page are about the image itself. */
function planOf(
  { mirrorTo: mirror, reference: image }: Pick<PublishTarget, 'mirrorTo' | 'reference'>,
  files: ReadonlyMap<string, string>,
): PushJob['plan'] {
  if (mirror === undefined) return undefined;
  return { mirror, image, files: new Map([...files].filter(([name]) => PLAN_FILES.includes(name))) };
}

// The index image of a publish: the catalog of the commit, checked, on the base image of the target.

/** A publish whose image is built, and not pushed yet. */
interface BuiltPublish extends Omit<PlannedPublish, 'kind'> {
  readonly kind: 'built';
  readonly source: CatalogSource;
  readonly base: OpenBase | undefined;
  readonly built: BuiltCatalog;
  /** Notes that are not errors. */
  readonly findings: readonly Finding[];
}

/**
 * Checks the catalog and builds its image.
 *
 * @param scratch an existing directory for layers
 * @throws PipelineError `not-found` for a catalog or base image that does not exist, and as {@link buildCatalogImage}
 */
async function buildPublish(plan: PlannedPublish, scratch: string): Promise<BuiltPublish | Ended> {
  const { ports, request, commit, policy, target } = plan;
  const { repository, registry, progress } = ports;
  const { catalog, store } = request;
  const source = await catalogToBuild(repository.objects, commit, { layout: policy.layout, name: catalog });
  progress(`checking ${catalog} at ${commit.slice(0, 12)}`);
  const bases = basesUnder(policy, registry);
  const base = target.base && (await openBase(bases, target.base, signatureDemands(policy)));
  progress(
    base ? `building on base image ${base.name}` : 'building without a base image: the image has no server',
  );
  const { built, findings } = await buildCatalogImage(source, base?.image, {
    ...target.settings,
    ...(store ? { memory: { store, key: catalog } } : {}),
    scratch,
    earlier: publishedLayers(target.to, registry),
    check: checkUnder(plan),
  });
  if (!built) return { kind: 'refused', findings };
  return { ...plan, kind: 'built', source, base, built, findings };
}

/** The check of a build. Its findings have the policy's severities; those that are waived on the day are left out. */
function checkUnder({ policy, request }: PlannedPublish): NonNullable<BuildOptions['check']> {
  const options = { rules: RULES, severityOf: severitiesOf(policy), limits: policy.limits };
  return async (contents, { verdicts }) => {
    const findings = await checkContents(contents, verdicts, options);
    // A waiver may name catalogs.
    const ofCatalog = findings.map((finding) => ({ ...finding, catalogs: [request.catalog] }));
    return applyWaivers(ofCatalog, policy.waivers, request.today).findings;
  };
}

/**
 * Reads layers where an image is published to. An archive is written anew each time: nothing is read of one.
 *
 * @param client for references
 */
export function publishedLayers(place: ImageLocation, client: Registry): ReadLayer | undefined {
  if (place.kind === 'registry') return (layer) => client.getBlob(place.reference, layer);
  if (place.kind !== 'oci') return undefined;
  return async function* read(layer) {
    const registry = layoutRegistry(await openLayout(place.path, { create: false }));
    yield* registry.getBlob({ registry: '', repository: place.tag?.repository ?? '' }, layer);
  };
}
