/** Somebody holds images of a catalog, releases them, or opens a ring early. */
import { PipelineError } from '../../error.ts';
import { policyAt } from '../../policy/read-policy.ts';
import { RULE_IDS } from '../../policy/rule-ids.ts';
import type { RecordStore } from '../../ports.ts';
import { fenceName } from '../fence.ts';
import { changeRings, type Held, withHold, withoutHold, withPromotion } from '../rings/acts.ts';
import { holdOf } from '../rings/look.ts';
import { timeOf } from '../rings/read.ts';
import { type Act, imageOf, type RingImage, type RingState } from '../rings/state.ts';
import { type RingStore, recordRings, ringsName } from '../rings/store.ts';
import { targetOf } from '../target.ts';
import type { RingMessage } from './message.ts';
import type { DeliveryPorts } from './ports.ts';
import { moveCatalogRings, type RingedCatalog, ringQuestions } from './rings.ts';

export interface RingActed {
  readonly state: RingState;
  /** How many more people must ask for a ring that is opened early. */
  readonly missing: number;
  /** Whether a new hold is about no image that the rings know, as one with a misspelt name. */
  readonly isUnseen?: boolean;
}

/** What acting on rings needs; the records hold the rings too, unless they are kept elsewhere. */
type RingActPorts = Pick<
  DeliveryPorts,
  'open' | 'registry' | 'fence' | 'lease' | 'checkOf' | 'now' | 'log'
> & {
  /** Whether to look for the images that a new hold is about. */
  readonly seeks?: boolean;
} & (
    | { readonly records: RecordStore }
    | { readonly records?: undefined; readonly ringStore: (catalog: string, name: string) => RingStore }
  );

/**
 * Writes it down; a ring that is opened gets its tag at once. Said twice it is the same.
 *
 * @throws PipelineError `usage` for a catalog without rings, `not-found` for an image that no ring has, `denied` for one
 *   that is held
 */
export async function handleRing(message: RingMessage, ports: RingActPorts): Promise<RingActed> {
  const { repository: source, branch, catalog, act: what } = message;
  const { repository, tip, close } = await ports.open(message);
  try {
    const { policy, findings } = await policyAt(repository.objects, tip, RULE_IDS);
    if (!policy) throw new PipelineError('usage', `the policy is not valid: ${findings[0]?.message}`);
    const target = targetOf(policy, catalog, {});
    if (target.rings.length === 0) {
      throw new PipelineError('usage', `the catalog ${catalog} has no rings`, {
        hint: 'add rings to publish.catalogs in the policy (docs/rings.md)',
      });
    }
    const of: RingedCatalog = { catalog, target, policy, repository, from: { repository: source, branch } };
    const name = ringsName(catalog, target);
    const store = ports.records ? recordRings(ports.records, catalog, name) : ports.ringStore(catalog, name);
    const { commit, bundle, asked } = message;
    const said = { by: message.by, why: message.why, ...(asked === undefined ? {} : { asked }) };
    const act: Act = { at: timeOf(ports.now()), ...said };
    const held = { ...(commit === undefined ? {} : { commit }), ...(bundle === undefined ? {} : { bundle }) };
    if (what !== 'promote') {
      const change = what === 'hold' ? withHold : withoutHold;
      const state = await changeRings(store, (before) => change(before, held, act));
      if (what !== 'hold' || !ports.seeks) return { state, missing: 0 };
      // The hold is written down: images that cannot be read change nothing about it.
      const isKnown = await isSeen(of, state, held).catch(() => true);
      return { state, missing: 0, isUnseen: !isKnown };
    }
    let missing = 0;
    const { has } = ringQuestions(of, ports.checkOf);
    const state = await changeRings(store, async (before) => {
      missing = 0;
      const known = saidBefore(before, message);
      if (known === 'done') return before;
      const image = known ?? (await imageIn(of, before, message, ports));
      const promoted = await withPromotion(before, {
        rings: target.rings,
        tag: message.tag ?? '',
        image,
        act,
        has,
      });
      missing = promoted.missing;
      return promoted.state;
    });
    if (missing > 0) return { state, missing };
    return { state: await moveCatalogRings(of, { ...ports, store }, ports.checkOf), missing };
  } finally {
    await close();
  }
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
  const isKnown = events.some(
    (one) => one.asked === asked && (one.by === by || one.by.split(', ').includes(by)),
  );
  return isKnown ? 'done' : undefined;
}

/** How long after it was asked for the newest image is still the one that somebody has looked at, in ms. */
const LATEST = 3_600_000;

/** Whether a hold is about an image in a ring, or one that waits for a ring. */
async function isSeen(of: RingedCatalog, { rings, arrivals }: RingState, held: Held): Promise<boolean> {
  const { has } = ringQuestions(of, undefined);
  const images = [...rings.flatMap(({ image }) => image ?? []), ...arrivals];
  for (const { commit } of images) if (await holdOf([held], commit, has)) return true;
  return false;
}

/** The image of the first ring, or one of a commit that has been seen in a ring. */
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
  const known: RingImage[] = [
    ...(first && first.retired === undefined ? [first] : []),
    ...[...arrivals].reverse(),
  ];
  const found = known.find((image) => commit === undefined || image.commit === commit);
  if (found) return found;
  const commits = [...new Set(known.map((image) => image.commit))];
  throw new PipelineError(
    'not-found',
    commit === undefined
      ? `no image of ${catalog} has reached the first ring`
      : `no ring has an image of ${commit}`,
    commits.length === 0 ? {} : { hint: `commits in the rings: ${commits.join(', ')}` },
  );
}
