/**
 * The publishing of one merge: a catalog of a commit becomes an index image in a registry or a
 * directory, and the documents that clusters without a network of their own need.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../../catalog/finding.ts';
import { PLAN_FILES, planFiles } from '../../catalog/mirror/files.ts';
import { RULES } from '../../catalog/rules/index.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { sharedPlaces } from '../change/shared-places.ts';
import { wholeCatalog } from '../change/whole-catalog.ts';
import { PipelineError } from '../error.ts';
import type { Repository } from '../git/repository.ts';
import { type BuiltCatalog, buildCatalogImage } from '../oci/image/build.ts';
import type { CatalogImage } from '../oci/image/image.ts';
import { type Judging, judgeContents } from '../oci/image/judge.ts';
import type { Memory, Store } from '../oci/image/memory.ts';
import type { Contents } from '../oci/image/packages.ts';
import { formatPlace, type Place } from '../oci/registry/place.ts';
import type { PushReport } from '../oci/registry/push.ts';
import type { Policy } from '../policy/policy.ts';
import { policyAt } from '../policy/read-policy.ts';
import { RULE_IDS } from '../policy/rule-ids.ts';
import { severitiesOf } from '../policy/severity.ts';
import { signatureDemands } from '../policy/signatures.ts';
import { applyWaivers } from '../policy/waiver.ts';
import type { Fence, RecordStore, Registry, StandingClaim } from '../ports.ts';
import { amount } from '../text.ts';
import { stageFiles, type Written } from '../write.ts';
import { type Attested, type AttestOptions, attestBy, attestImages } from './attest/attest.ts';
import { type OpenBase, openBase } from './base.ts';
import { earlierLayers } from './earlier.ts';
import { type Guard, type Guarded, guardOf } from './fence-guard.ts';
import { mirrorFiles } from './mirror.ts';
import { PAGE, publishPage } from './page.ts';
import { type PushJob, sendCatalogImages, summedReport } from './push.ts';
import { type PublishReceipt, receiptOf, receiptText } from './receipt.ts';
import { type PublishChoices, type PublishTarget, targetOf } from './target.ts';

export interface PublishRequest extends PublishChoices {
  /** Revision that is published. */
  readonly commit: string;
  /** The catalog's name, as the layout of the commit's policy finds it. */
  readonly catalog: string;
  /** Where the receipt and the mirror's documents are written. */
  readonly out: string;
  /** The day for which waivers are judged, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  /** Raised by one when the branch's history was rewritten; the standing one when left out. */
  readonly epoch?: number | undefined;
  /** What is put beside the image before a tag names it; what the policy says when left out. */
  readonly attest?: AttestOptions | undefined;
  /** What builds remember of each other; every build is a first one without. */
  readonly store?: Store | undefined;
  /** Whether a page of the catalog is written as well, and attached to the image. */
  readonly page?: boolean | undefined;
}

export interface PublishPorts {
  readonly repository: Repository;
  readonly registry: Registry;
  /** Decides whose tag it is; without one, the last to publish wins. */
  readonly fence?: Fence | undefined;
  /** Where the documents of every publish are kept as well; only behind a fence. */
  readonly records?: RecordStore | undefined;
  /** Told of each step when it begins. */
  readonly progress: (step: string) => void;
}

export type Published =
  /** Nothing was pushed and nothing written: what is wrong are errors of the catalog or the policy. */
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }
  /** Nothing was written: a newer commit is published, and the tag names its image. */
  | {
      readonly kind: 'superseded';
      readonly findings: readonly Finding[];
      readonly by: StandingClaim;
      /** The place that both are published to. */
      readonly image: string;
    }
  | {
      readonly kind: 'published';
      /** What is worth knowing, none of it an error. */
      readonly findings: readonly Finding[];
      readonly receipt: PublishReceipt;
      readonly push: PushReport;
      readonly files: Written;
    };

/** The receipt's file in the output directory. */
const RECEIPT = 'receipt.json';

/**
 * Publishes a catalog. The tag moves last; the files are complete before it moves and are seen after.
 *
 * @throws PipelineError `not-found` for a commit, catalog or base image that is not there, `usage` for
 *   choices that cannot be followed, `io`, and whatever the registry answers
 */
export async function publish(
  { repository, registry, fence, records, progress }: PublishPorts,
  request: PublishRequest,
): Promise<Published> {
  const [commit = ''] = await repository.resolve([request.commit]);
  const { policy, findings: policyFindings } = await policyAt(repository.objects, commit, RULE_IDS);
  if (!policy) return { kind: 'refused', findings: policyFindings };
  const { catalog } = request;
  const taken = await takenPlaces(repository, { ...request, commit }, policy);
  if (taken.length > 0) return { kind: 'refused', findings: taken };
  const target = targetOf(policy, catalog, request);
  const guarded = { repository, fence: target.untagged ? undefined : fence, records, ...request, commit };
  const guard = guardOf(target, guarded);
  const ahead = await guard?.newer(registry);
  if (ahead) return { kind: 'superseded', findings: [], by: ahead, image: target.name };
  const source = await wholeCatalog(repository.objects, commit, { layout: policy.layout, name: catalog });
  const scratch = scratchFolder();
  try {
    progress(`judging ${catalog} at ${commit.slice(0, 12)}`);
    const judgeIt = async (contents: Contents, { verdicts }: Memory): Promise<Finding[]> =>
      judgedUnder(policy, await judgeContents(contents, verdicts, judgingBy(policy)), request);
    const base = target.base && (await openBase(registry, target.base, signatureDemands(policy)));
    progress(base ? `building on ${base.name}` : 'building on nothing: a catalog without a server');
    const earlier = earlierLayers(target.to, registry);
    const options = { ...target.settings, scratch, ...memoryOf(request), earlier, judge: judgeIt };
    const { built, findings } = await buildCatalogImage(source, base?.image, options);
    if (!built) return { kind: 'refused', findings };
    const receipt = receiptOf(built, { catalog, commit, target, base: base?.image });
    const files = await filesOf(source, { target, receipt, built });
    if (request.page)
      files.set(PAGE, await publishPage(source, { receipt, findings, limits: policy.limits }));
    const staged = stageFiles(request.out, files, [...PLAN_FILES, PAGE]);
    try {
      for (const step of replanning(built)) progress(step);
      progress(
        `pushing ${amount(built.packages, 'package')} in ${amount(built.layers, 'layer')} to ${target.name}`,
      );
      const sent = await sendCatalogImages(registry, jobsOf(target, built, { base, guard, guarded, files }));
      await attestImages(sent.standing, attestedOf(request.attest, { target, built, receipt }));
      const push = summedReport(await sent.tag());
      const won = guard?.winner();
      if (won && won.digest !== receipt.digest) {
        staged.discard();
        return { kind: 'superseded', findings, by: won, image: target.name };
      }
      return { kind: 'published', findings, receipt, push, files: staged.commit() };
    } catch (error) {
      staged.discard();
      throw error;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Places of the policy that another catalog of the commit is published to as well. */
async function takenPlaces(
  { objects }: Repository,
  { commit, catalog, to, untagged }: PublishRequest,
  policy: Policy,
): Promise<Finding[]> {
  if (to !== undefined || untagged) return [];
  const shared = await sharedPlaces(objects, commit, policy);
  return shared.filter(({ catalogs }) => catalogs?.includes(catalog));
}

function judgingBy(policy: Policy): Judging {
  return { rules: RULES, severityOf: severitiesOf(policy), limits: policy.limits };
}

/** Findings as they count on the day: what is waived is not among them. */
function judgedUnder(
  { waivers }: Policy,
  findings: readonly Finding[],
  { catalog, today }: PublishRequest,
): Finding[] {
  const named = findings.map((finding) => ({ ...finding, catalogs: [catalog] }));
  return [...applyWaivers(named, waivers, today).findings];
}

function scratchFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'portolan-build-'));
  } catch (cause) {
    throw new PipelineError('io', `no directory for layers can be made in ${tmpdir()}`, { cause });
  }
}

function memoryOf({ store, catalog }: PublishRequest): { memory?: { store: Store; key: string } } {
  return store ? { memory: { store, key: catalog } } : {};
}

/** What a build that put packages into other layers than the one before costs. */
function replanning({ replanned, made, layers }: BuiltCatalog): string[] {
  if (!replanned) return [];
  const { from, to } = replanned;
  const words = (room: number): string =>
    room === 0 ? 'a layer for each package' : `layers shared up to ${(room / 1e6).toPrecision(3)} MB`;
  return [
    `packages move from ${words(from)} to ${words(to)}: ${made} of ${layers} layers are made anew and sent`,
  ];
}

function attestedOf(
  options: AttestOptions | undefined,
  { target, built, receipt }: { target: PublishTarget; built: BuiltCatalog; receipt: PublishReceipt },
): Attested {
  const { cache, codec, labels } = target.settings;
  return {
    options: options ?? attestBy(target.attest),
    built,
    receipt,
    settings: { cache, compression: codec, labels },
  };
}

/** Each place has a fence of its own: the slim image has another digest. The documents are those of the first. */
function jobsOf(
  { to, also, slim, untagged, mirrorTo }: PublishTarget,
  built: BuiltCatalog,
  around: {
    readonly base: OpenBase | undefined;
    readonly guard: Guard | undefined;
    readonly guarded: Guarded;
    readonly files: ReadonlyMap<string, string>;
  },
): PushJob[] {
  const jobOf = (place: Place, image: CatalogImage): PushJob => {
    const elsewhere = { ...around.guarded, records: undefined };
    const own = place === to ? around.guard : guardOf({ to: place, name: formatPlace(place) }, elsewhere);
    const base = image === built.slim ? undefined : around.base;
    const promote = own?.promote(image.manifestList.digest, around.files);
    // The documents name the digest of the first image; the slim one has another.
    const plan = image === built.image ? planOf(mirrorTo, around.files) : undefined;
    const page = image === built.image ? around.files.get(PAGE) : undefined;
    return { image, place, base, untagged, promote, plan, page };
  };
  const jobs = [to, ...also].map((place) => jobOf(place, built.image));
  return slim ? [...jobs, jobOf(slim, built.slim)] : jobs;
}

/** The plan's files, to be attached to the image; the receipt and the page are about the image itself. */
function planOf(mirror: string | undefined, files: ReadonlyMap<string, string>): PushJob['plan'] {
  if (mirror === undefined) return undefined;
  return { mirror, files: new Map([...files].filter(([name]) => PLAN_FILES.includes(name))) };
}

async function filesOf(
  source: CatalogSource,
  made: { readonly target: PublishTarget; readonly receipt: PublishReceipt; readonly built: BuiltCatalog },
): Promise<Map<string, string>> {
  const files = new Map([[RECEIPT, receiptText(made.receipt)]]);
  const outcome = await mirrorFiles(source, made.target, made.receipt);
  if (outcome) for (const [name, text] of planFiles(outcome)) files.set(name, text);
  return files;
}
