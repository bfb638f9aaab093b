/** Catalogs that are published, but that the branch or its policy has no more. */
import { formatReference } from '../../../catalog/reference.ts';
import { isOn } from '../../git/fetch-commits.ts';
import { isAncestor } from '../../git/merge.ts';
import type { Repository } from '../../git/repository.ts';
import {
  formatLocation,
  type ImageLocation,
  oneSpelling,
  parseLocation,
} from '../../oci/registry/image-location.ts';
import { policyAt } from '../../policy/read-policy.ts';
import type { Retirement, StandingClaim } from '../../ports.ts';
import { type Current, followingRecord, publishedIn } from '../documents.ts';
import { type Follower, fenceName } from '../fence.ts';
import { retiredTag } from '../fence-tag.ts';
import { goesBeyond, type RetirePorts, retireAt } from '../retire.ts';
import { endRing } from '../rings/acts.ts';
import { recordRings, ringsName } from '../rings/store.ts';
import { type PublishTarget, placesOf, takenPlaces, targetIn } from '../target.ts';
import { type BranchTip, type CatalogAt, catalogsAt } from './changed.ts';
import { messageOf, type RetireMessage } from './message.ts';
import { recordOutcome } from './outcome.ts';
import { type DeliveryPorts, onBranch } from './ports.ts';

interface Branch extends BranchTip {
  readonly branch: string;
}

/**
 * What a branch has published and has no more. What another branch has published is not looked at, nor what an older
 * version of Portolan has recorded, which does not say from where.
 *
 * @param all the branch's catalogs
 */
export async function retiredFrom(
  repository: Repository,
  { name, branch, tip, policy }: Branch,
  { all, records }: { readonly all: readonly CatalogAt[] } & Pick<DeliveryPorts, 'records'>,
): Promise<Current[]> {
  const ownPlaces = new Set(
    all.flatMap(({ catalog, at }) =>
      at ? placesOf(at.target).map((place) => fenceName(catalog, formatLocation(place))) : [],
    ),
  );
  // Nobody knows where it is published to: perhaps where it was.
  const unknown = new Set(all.flatMap(({ catalog, at }) => (at ? [] : [catalog])));
  const found: Current[] = [];
  for (const current of await publishedIn(records, ownPlaces)) {
    const { from, catalog, retired } = current;
    if (from?.repository !== name || from.branch !== branch || unknown.has(catalog)) continue;
    if (!goesBeyond(policy.publish.retired, retired)) continue;
    // A tip that is older than what is published says nothing of it.
    if (await isOn(repository, current.commit, tip)) found.push(current);
  }
  return found;
}

/** The message that a published catalog is to be retired from its place. */
export function retireMessage(
  { name, branch, tip }: Omit<Branch, 'policy'>,
  { catalog, image }: Current,
): RetireMessage {
  return { v: 1, kind: 'retire', repository: name, branch, commit: tip, catalog, place: image };
}

/**
 * Retires a catalog, unless the branch has it by now. It may be done over, to the same end.
 *
 * @returns whether it is retired now
 * @throws PipelineError as {@link retireAt}
 */
export async function handleRetire(message: RetireMessage, ports: DeliveryPorts): Promise<boolean> {
  const { repository: name, branch, catalog, place } = message;
  return onBranch(ports, message, async ({ repository, tip }) => {
    const { policy } = await policyAt(repository.objects, tip);
    if (!policy) return false;
    const all = await catalogsAt(repository, { name, tip, policy }, ports);
    const at = { name, branch, tip, policy };
    const found = await retiredFrom(repository, at, { all, records: ports.records });
    const current = found.find((one) => one.catalog === catalog && one.image === place);
    if (!current) {
      ports.log(`${catalog} at ${place}: nothing to retire`);
      return false;
    }
    const catalogs = all.map((one) => one.catalog);
    const tell = async ({ digest, retired = 'keep' }: StandingClaim): Promise<void> => {
      const outcome = { repository: name, catalog, commit: tip };
      // Published elsewhere, it has an outcome of its own.
      if (!catalogs.includes(catalog)) {
        const detail = `${catalog} is not in ${branch}: ${WORDS[retired]}`;
        await recordOutcome(ports, outcome, { state: 'retired', detail });
      }
      const retirement = { ...outcome, image: place, digest, retired };
      await ports.reports.send(messageOf({ v: 1, kind: 'report', what: 'retirement', ...retirement }));
    };
    await retire({ current, taken: takenPlaces(policy, catalogs), repository, at, tell }, ports);
    const to = parseLocation(place);
    await endRing(recordRings(ports.records, catalog, ringsName(catalog, { to })), place);
    return true;
  });
}

/** What becomes of the image, for people. */
const WORDS: Readonly<Record<Retirement, string>> = {
  keep: 'its image stays',
  retag: 'its image has a tag that begins with retired-',
  delete: 'its image is deleted',
};

interface FoundCatalog {
  readonly current: Current;
  /** Places that catalogs of the branch are published to, as `oneSpelling` writes them. */
  readonly taken: ReadonlySet<string>;
  readonly repository: Repository;
  readonly at: Branch;
  /** Records and reports the retirement. */
  readonly tell: (claim: StandingClaim) => Promise<void>;
}

/**
 * Tells of a retirement. It belongs before the record of what is published: while that has no `retired`,
 * {@link retiredFrom} finds the catalog again, so a run that dies after the report starts over instead of losing it.
 */
function toldOnce(tell: FoundCatalog['tell']): Follower {
  let isTold = false;
  return {
    follows: async ({ retired }) => isTold || retired === undefined,
    move: async (claim) => {
      await tell(claim);
      isTold = true;
    },
  };
}

/**
 * Retires a catalog at each place that it was published to. At the place that the record names, {@link retireAt} acts in
 * this order: images and tag, the report, the record. That place is the last one, so a run that dies before the record starts
 * over with all places.
 */
async function retire(
  { current, taken, repository, at: { name, branch, tip, policy }, tell }: FoundCatalog,
  ports: DeliveryPorts,
): Promise<void> {
  const { fence, lease, registry, records, log } = ports;
  const { catalog, image, digest } = current;
  const retirePorts: RetirePorts = {
    fence,
    lease,
    registry,
    isAncestor: (older, newer) => isAncestor(repository, older, newer),
  };
  const fenced = {
    name: fenceName(catalog, image),
    catalog,
    place: image,
    from: { repository: name, branch },
  };
  const record = followingRecord(records, fenced);
  const { places, attest } = await formerPlaces(repository, current);
  for (const place of places) {
    const written = formatLocation(place);
    // Another catalog has the place now, and its tag.
    const retired = taken.has(oneSpelling(written)) ? 'keep' : policy.publish.retired;
    const beside = written === image ? [toldOnce(tell), record] : [];
    const retiring = { catalog, place, commit: tip, last: digest, retired, attest, beside };
    const claim = await retireAt(retirePorts, retiring);
    if (claim?.retired !== undefined)
      log(`retired ${catalog}: ${keptAs(place, claim.retired, claim.digest)}`);
  }
}

/** What became of the image of a retired catalog, for people. */
function keptAs(place: ImageLocation, retired: Retirement, digest: string): string {
  const written = formatLocation(place);
  if (retired === 'keep') return `${written} stays`;
  if (retired === 'delete') return `${written} is deleted`;
  return place.kind === 'registry'
    ? `${written} is ${formatReference(retiredTag(place.reference, digest))} now`
    : `${written} has another tag now`;
}

/** All places of the catalog when it was published last, the one with the record at the end, and what was attached. */
async function formerPlaces(
  repository: Repository,
  current: Current,
): Promise<{ readonly places: readonly ImageLocation[] } & Pick<PublishTarget, 'attest'>> {
  const own = parseLocation(current.image);
  const { policy } = await policyAt(repository.objects, current.commit);
  const target = policy && targetIn(policy, current.catalog);
  // The policy names another image now, or `publish` was told to write elsewhere: of other places nothing is known.
  if (target?.name !== current.image) return { places: [own], attest: [] };
  const others = placesOf(target).filter((place) => formatLocation(place) !== current.image);
  return { places: [...others, own], attest: target.attest };
}
