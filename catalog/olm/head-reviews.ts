/** What the new heads of channels require of whoever approves the upgrades to them. */
import { headOf } from '../fbc/channel.ts';
import { installedOf } from '../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../fbc/model.ts';
import { parseJson } from '../json.ts';
import { tryParseReference } from '../reference.ts';
import { type Change, upgradePathOf, type World } from './foresight/world.ts';
import { offerOfBundle } from './resolve/snapshot.ts';
import {
  type ProvidedApi,
  type ReviewedBundle,
  reviewUpgrade,
  type UpgradeReview,
} from './upgrade-review.ts';

/** The upgrade to a new head from the head before it. As JSON a public interface. */
export interface HeadReview extends UpgradeReview {
  /** Channels that have the new head, by name. */
  readonly channels: readonly string[];
  /** The two bundles' images; absent where either has no valid one. */
  readonly images?: { readonly from: string; readonly to: string };
}

/** The upgrades of a package to the new heads of its channels, each pair of bundles once; without those of which nothing is known. */
export function headReviews(change: Change, name: string): HeadReview[] {
  const ofPackage = change.after.catalog.packages.get(name);
  const pairs = new Map<string, { from: Bundle; to: Bundle; channels: string[] }>();
  for (const channel of ofPackage?.channels.values() ?? []) {
    const to = ofPackage?.bundles.get(headOf(channel)?.name ?? '');
    const from = to && formerHead(change, { package: name, channel: channel.name }, to);
    if (!from) continue;
    const key = JSON.stringify([from.name, to.name]);
    const known = pairs.get(key);
    if (known) known.channels.push(channel.name);
    else pairs.set(key, { from, to, channels: [channel.name] });
  }
  return [...pairs.values()].flatMap(({ from, to, channels }) => {
    const review = reviewUpgrade(reviewedBundle(change.before, from), reviewedBundle(change.after, to));
    if (review.act + review.know === 0 && review.sections.some(({ unknown }) => unknown !== undefined))
      return [];
    const haveImages = [from, to].every(({ image }) => tryParseReference(image));
    const images = haveImages ? { images: { from: from.image, to: to.image } } : {};
    return [{ ...review, channels: channels.sort(), ...images }];
  });
}

/**
 * The head whose clusters upgrade to a new head: the channel's old one or, in a new channel, that of another channel.
 */
function formerHead(
  { before, after }: Change,
  at: { readonly package: string; readonly channel: string },
  to: Bundle,
): Bundle | undefined {
  const was = before.catalog.packages.get(at.package);
  if (!was) return undefined;
  const own = was.channels.get(at.channel);
  // One answer for a channel: where clusters run both, OLM v0 is the one that follows a channel edge by edge.
  const olm = after.olm.has('v0') ? 'v0' : 'v1';
  const following = { ...at, olm, onlyChannel: true } as const;
  return (own ? [own] : defaultFirst(was))
    .flatMap((channel) => was.bundles.get(headOf(channel)?.name ?? '') ?? [])
    .find((head) => {
      if (head.name === to.name) return false;
      const installed = installedOf(head);
      return upgradePathOf(after.foresight, following, installed).end.name === to.name;
    });
}

function defaultFirst({ channels, defaultChannel }: Package): Channel[] {
  return [...channels.values()].sort(
    (a, b) => Number(b.name === defaultChannel) - Number(a.name === defaultChannel),
  );
}

/** What a review looks at in a bundle. Its own image is left out of its images. */
function reviewedBundle(world: World, bundle: Bundle): ReviewedBundle {
  const { package: packageName, name, image, relatedImages } = bundle;
  return {
    package: packageName,
    name,
    csv: world.manifests(bundle).csv,
    crds: world.crds(bundle),
    apis: offerOfBundle(bundle).gvks.map(apiOf),
    images: relatedImages.map((one) => one.image).filter((one) => one !== image),
  };
}

/** The API of a key of a kind: JSON of its group, version and kind. */
function apiOf(gvk: string): ProvidedApi {
  const [group, version, kind] = parseJson(gvk) as [string, string, string];
  return { group, version, kind };
}
