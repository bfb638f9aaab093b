/** Somebody holds images of a catalog, releases them, or opens a ring early. */
import { PipelineError } from '../../error.ts';
import { readablePolicyAt } from '../../policy/read-policy.ts';
import type { RecordStore } from '../../ports.ts';
import { publishedIn } from '../documents.ts';
import { fenceName } from '../fence.ts';
import { publishedCatalogs } from '../published-catalogs.ts';
import { changeRings, type HoldScope, withHold, withoutHold, withPromotion } from '../rings/acts.ts';
import { holdOf, type RingQuestions } from '../rings/look.ts';
import { timeOf } from '../rings/read.ts';
import { type Act, imageOf, type RingImage, type RingState } from '../rings/state.ts';
import { type RingStore, recordRings, ringsName } from '../rings/store.ts';
import { targetOf } from '../target.ts';
import type { RingMessage } from './message.ts';
import { type DeliveryPorts, onBranch } from './ports.ts';
import { moveCatalogRings, type RingedCatalog, ringQuestions } from './rings.ts';

export interface RingActed {
  readonly state: RingState;
  /** How many more people must ask for a ring that is opened early. */
  readonly missing: number;
}

/** What acting on rings needs; the records hold the rings too, unless they are kept elsewhere. */
type RingActPorts = Pick<DeliveryPorts, 'open' | 'registry' | 'fence' | 'lease' | 'checkOf' | 'now' | 'log'> &
  (
    | { readonly records: RecordStore }
    | { readonly records?: undefined; readonly ringStore: (catalog: string, name: string) => RingStore }
  );

/**
 * Records what a message asks for: a hold, its release, or a promotion. A ring that is opened gets its tag at once. The same
 * message once more changes nothing.
 *
 * @throws PipelineError `usage` for a catalog without rings, `not-found` for a catalog, a commit or a bundle that does not
 *   exist and for an image that no ring has, `denied` for one that is held
 */
export async function handleRing(message: RingMessage, ports: RingActPorts): Promise<RingActed> {
  const { repository: source, branch, catalog, act: what } = message;
  return onBranch(ports, message, async ({ repository, tip }) => {
    const policy = await readablePolicyAt(repository.objects, tip);
    await expectCatalog({ repository, tip, policy }, catalog, ports.records);
    const target = targetOf(policy, catalog, {});
    if (target.rings.length === 0) {
      throw new PipelineError('usage', `the catalog ${catalog} has no rings`, {
        hint: 'add rings to publish.catalogs in the policy (docs/rings.md)',
      });
    }
    const ringCatalog: RingedCatalog = {
      catalog,
      target,
      policy,
      repository,
      from: { repository: source, branch },
    };
    const name = ringsName(catalog, target);
    const store = ports.records ? recordRings(ports.records, catalog, name) : ports.ringStore(catalog, name);
    const { commit, bundle, asked } = message;
    const said = { by: message.by, why: message.why, ...(asked === undefined ? {} : { asked }) };
    const act: Act = { at: timeOf(ports.now()), ...said };
    const scope = {
      ...(commit === undefined ? {} : { commit }),
      ...(bundle === undefined ? {} : { bundle }),
    };
    // Awaited here: the repository is closed behind it.
    if (what === 'promote') return await promote(ringCatalog, { message, act, store }, ports);
    const change = what === 'hold' ? withHold : withoutHold;
    if (what === 'hold') await expectHeld(ringCatalog, (await store.read()).state, { scope, tip });
    return { state: await changeRings(store, (before) => change(before, scope, act)), missing: 0 };
  });
}

/** Records that somebody asks for a ring to be opened early, and opens it when enough people have. */
async function promote(
  ringCatalog: RingedCatalog,
  { message, act, store }: { readonly message: RingMessage; readonly act: Act; readonly store: RingStore },
  ports: RingActPorts,
): Promise<RingActed> {
  const { rings } = ringCatalog.target;
  const { has } = ringQuestions(ringCatalog, ports.checkOf);
  // Set anew in each try: another writer may have been first, with an approval of its own.
  let missing = 0;
  const state = await changeRings(store, async (before) => {
    missing = 0;
    const imageOfMessage = saidBefore(before, message);
    if (imageOfMessage === 'done') return before;
    const image = imageOfMessage ?? (await imageIn(ringCatalog, before, message, ports));
    const promoted = await withPromotion(before, { rings, tag: message.tag ?? '', image, act, has });
    missing = promoted.missing;
    return promoted.state;
  });
  if (missing > 0) return { state, missing };
  return { state: await moveCatalogRings(ringCatalog, { ...ports, store }, ports.checkOf), missing };
}

/**
 * What a message that has come before was about: the image that it approves, or `done` when it has opened the ring. The
 * first ring may have a newer image by now, which nobody has looked at.
 */
function saidBefore(
  { approvals, events }: RingState,
  { by, asked }: RingMessage,
): RingImage | 'done' | undefined {
  if (asked === undefined) return undefined;
  const approval = approvals.find((one) => one.asked === asked && one.by === by);
  if (approval) return imageOf(approval);
  // An opening that several people approved names them all.
  const hasOpened = events.some(
    (one) => one.asked === asked && (one.by === by || one.by.split(', ').includes(by)),
  );
  return hasOpened ? 'done' : undefined;
}

/** How long after it was asked for the newest image is still the one that somebody has looked at, in ms. */
const LATEST = 3_600_000;

/**
 * Checks that a catalog is one of the branch.
 *
 * @throws PipelineError `not-found` for a catalog that the branch does not have, and never had
 */
async function expectCatalog(
  { repository, tip, policy }: Pick<RingedCatalog, 'repository' | 'policy'> & { readonly tip: string },
  catalog: string,
  records: RecordStore | undefined,
): Promise<void> {
  const names = await publishedCatalogs(repository.objects, tip, policy);
  if (names.includes(catalog)) return;
  // What is retired may still be held.
  const published = records ? await publishedIn(records) : [];
  if (published.some((one) => one.catalog === catalog)) return;
  throw new PipelineError('not-found', `there is no catalog ${catalog}`, {
    hint: `catalogs: ${names.join(', ')}`,
  });
}

/**
 * Whether a hold is about an image in a ring, one that waits for a ring, or the branch's newest commit. A misspelt name would
 * hold nothing, and nobody would notice.
 *
 * @throws PipelineError `not-found` where it is about none of them
 */
async function expectHeld(
  ringCatalog: RingedCatalog,
  { rings, arrivals }: RingState,
  { scope, tip }: { readonly scope: HoldScope; readonly tip: string },
): Promise<void> {
  if (scope.commit === undefined && scope.bundle === undefined) return;
  const { has } = ringQuestions(ringCatalog, undefined);
  const images = [...rings.flatMap(({ image }) => image ?? []), ...arrivals].map(({ commit }) => commit);
  for (const commit of new Set([...images, tip])) {
    if (await isHeldBy(scope, commit, has)) return;
  }
  throw new PipelineError(
    'not-found',
    `no image of ${ringCatalog.catalog} has ${scope.bundle === undefined ? `the commit ${scope.commit}` : `the bundle ${scope.bundle}`}`,
    { hint: 'see portolan ring list; without --commit and --bundle the whole catalog is held' },
  );
}

/** Whether a hold is about a commit, as far as its catalog can be read. */
async function isHeldBy(scope: HoldScope, commit: string, has: RingQuestions['has']): Promise<boolean> {
  try {
    return (await holdOf([scope], commit, has)) !== undefined;
  } catch (error) {
    // What cannot be read does not refuse a hold.
    if (error instanceof PipelineError) return true;
    throw error;
  }
}

/** The image that a message about a ring means: that of the first ring, or the one of a commit that was in a ring. */
async function imageIn(
  { catalog, target }: RingedCatalog,
  { arrivals }: RingState,
  { commit, asked }: RingMessage,
  { fence, now }: Pick<DeliveryPorts, 'fence' | 'now'>,
): Promise<RingImage> {
  if (commit === undefined && asked !== undefined && now().getTime() - Date.parse(asked) > LATEST) {
    throw new PipelineError('usage', `the promotion is of ${asked} and names no commit`, {
      hint: 'the newest image may be another one by now: run portolan ring promote again',
    });
  }
  const first = await fence.read(fenceName(catalog, target.name));
  // The newest come first: a commit may have had several images.
  const images: RingImage[] = [
    ...(first && first.retired === undefined ? [first] : []),
    ...[...arrivals].reverse(),
  ];
  const found = images.find((image) => commit === undefined || image.commit === commit);
  if (found) return found;
  const commits = [...new Set(images.map((image) => image.commit))];
  throw new PipelineError(
    'not-found',
    commit === undefined
      ? `no image of ${catalog} has reached the first ring`
      : `no ring has an image of ${commit}`,
    commits.length === 0 ? {} : { hint: `commits in the rings: ${commits.join(', ')}` },
  );
}
