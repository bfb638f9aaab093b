/** A package with suggested channels, and the channels as blobs. */
import { type Channel, type Package, packageWith } from '../../fbc/model.ts';
import { newBlob, newDocument } from '../../fbc/new-blob.ts';
import type { SuggestedEntry } from './suggested-channel.ts';

export interface SuggestedChannel {
  readonly name: string;
  /** The lowest version first. */
  readonly entries: readonly SuggestedEntry[];
  /** Entries of today; 0 for a new channel. */
  readonly today: number;
  /** No channel that does the same has fewer entries; absent where today's channel stays as it is. */
  readonly atLeast?: number;
  /** Why the channel stays as it is. */
  readonly why?: string;
}

/** A package with other channels; bundles that none of them has are gone. */
export function packageOf(ofPackage: Package, plans: readonly SuggestedChannel[]): Package {
  const channels = new Map(plans.map((plan) => [plan.name, channelOf(ofPackage, plan)]));
  const listed = new Set(plans.flatMap(({ entries }) => entries.map(({ name }) => name)));
  const bundles = new Map([...ofPackage.bundles].filter(([bundle]) => listed.has(bundle)));
  return packageWith(ofPackage, { channels, bundles });
}

/** A suggested channel as a blob; what else today's blob has stays. With a reason why there is no suggestion, today's channel. */
export function channelOf(ofPackage: Package, { name, entries, why }: SuggestedChannel): Channel {
  const today = ofPackage.channels.get(name);
  if (today && why !== undefined) return today;
  const { properties } = today?.value ?? {};
  const value = {
    schema: 'olm.channel',
    package: ofPackage.name,
    name,
    entries: entries.map(writtenEntry),
    ...(properties === undefined ? {} : { properties }),
  };
  const made = newBlob(value, newDocument(today?.document.locate([]) ?? { file: '', line: 1, column: 1 }));
  if (made.kind !== 'channel') throw new TypeError('internal error: created an invalid channel');
  return made.blob;
}

function writtenEntry({
  name,
  replaces,
  skips,
  skipRange,
}: SuggestedEntry): Readonly<Record<string, unknown>> {
  return {
    name,
    ...(replaces === '' ? {} : { replaces }),
    ...(skips.length === 0 ? {} : { skips }),
    ...(skipRange === '' ? {} : { skipRange }),
  };
}
