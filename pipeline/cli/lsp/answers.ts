/** What an editor asks about a place in a catalog. */
import { shortName } from '../../../catalog/fbc/edge.ts';
import type { Blob, Channel, Package } from '../../../catalog/fbc/model.ts';
import type { Location } from '../../../catalog/finding.ts';
import { nextHops, type Stop } from '../../../catalog/olm/graph/hop-graph.ts';
import { entryIn } from '../../../catalog/rules/finding-location.ts';
import { shortList } from '../../text.ts';
import type { CatalogFolder } from './catalog-folder.ts';
import type { Position } from './segmented-text.ts';

/** A name in a text, and where it is. */
interface Word {
  readonly text: string;
  /** The key that it is the value of; of an item of a list, the key of the list. */
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

interface AskedPlace {
  readonly folder: CatalogFolder;
  readonly file: string;
  readonly at: Position;
}

/** A name of a package, channel or bundle, or a version. */
const NAME = /[A-Za-z0-9][A-Za-z0-9._+~-]*/g;

/** The name at the cursor; undefined if there is none. */
function wordAt({ folder, file, at }: AskedPlace): Word | undefined {
  const line = folder.files.get(file)?.line(at.line) ?? '';
  for (const match of line.matchAll(NAME)) {
    const [from, to] = [match.index, match.index + match[0].length];
    if (from <= at.character && at.character <= to)
      return { text: match[0], key: keyOf({ folder, file, at }, line), from, to };
  }
  return undefined;
}

/** The key of a line, or of the list that it is an item of. */
function keyOf({ folder, file, at }: AskedPlace, line: string): string {
  const own = /^[\s-]*["']?([A-Za-z]+)["']?:/.exec(line)?.[1];
  if (own !== undefined) return own;
  const indent = line.search(/\S|$/);
  const { segment, line: start = 0 } = folder.files.get(file)?.at(at.line) ?? {};
  // The lines of the document before this one.
  const above = segment?.text.split('\n', at.line - start) ?? [];
  // A list belongs to the nearest line above that has only a key, and is not indented further than its items.
  for (const text of above.reverse()) {
    const [, before = '', key] = /^(\s*(?:- +)?)["']?([A-Za-z]+)["']?:\s*\[?$/.exec(text.trimEnd()) ?? [];
    if (key !== undefined && before.length <= indent) return key;
  }
  return '';
}

/** The package whose document a line is in; undefined for a line of no package, and before the catalog is read. */
function packageAt({ folder, file, at }: AskedPlace): Package | undefined {
  const blobs = folder.blobsAt(file, at.line);
  const name =
    blobs?.packages[0]?.name ?? [blobs?.channels, blobs?.bundles, blobs?.deprecations].flat()[0]?.package;
  return name === undefined ? undefined : folder.world?.catalog.packages.get(name);
}

/** What clusters do with the bundle whose name is at a place, as Markdown; undefined if no bundle is named there. */
export function hoverText(asked: AskedPlace): string | undefined {
  const word = wordAt(asked);
  const ofPackage = packageAt(asked);
  const { world } = asked.folder;
  if (!word || !world || !ofPackage) return undefined;
  // In a channel's document only that channel is meant; elsewhere, as in a bundle's, all of them are.
  const own = asked.folder.blobsAt(asked.file, asked.at.line)?.channels[0]?.name;
  const lines = (['v0', 'v1'] as const).flatMap((olm) =>
    nextHops(world.foresight, ofPackage, olm)
      .filter(({ channel }) => own === undefined || channel === own)
      .flatMap(({ channel, stops }) => {
        const stop = stops.find(({ bundle }) => bundle === word.text);
        return stop ? [stopText(stop, stops, `OLM ${olm}, channel ${channel}`)] : [];
      }),
  );
  return lines.length === 0 ? undefined : [`**${word.text}**`, ...lines].join('\n\n');
}

/** A line about a bundle in one channel: what upgrades to it, and what it upgrades to. */
function stopText(stop: Stop, stops: readonly Stop[], where: string): string {
  const from = stops
    .filter(({ next }) => next?.to.name === stop.bundle)
    .map(({ installed }) => shortName(installed));
  const next = stop.next
    ? `the next upgrade is ${shortName(stop.next.to)}${stop.arrives ? '' : ', then the path ends short of a head'}`
    : stop.isHead
      ? 'it is the head'
      : `**no upgrade**: ${stop.why ?? ''}`;
  return `${where}: ${from.length === 0 ? 'nothing upgrades to it' : `${shortList(from)} upgrade to it`}; ${next}`;
}

/** Where the entry is that an entry replaces or skips; elsewhere, where the bundle or channel of the name is. */
export function definitionLocation(asked: AskedPlace): Location | undefined {
  const word = wordAt(asked);
  const ofPackage = packageAt(asked);
  if (!word || !ofPackage) return undefined;
  const { folder, file, at } = asked;
  const channel = folder.blobsAt(file, at.line)?.channels[0];
  const isEdge = word.key === 'replaces' || word.key === 'skips';
  const entry = isEdge ? entryIn(channel, word.text) : undefined;
  if (channel && entry) return folder.placeOf(channel, 'entries', entry.index, 'name');
  const target: Blob | undefined = ofPackage.bundles.get(word.text) ?? ofPackage.channels.get(word.text);
  return target && folder.placeOf(target, 'name');
}

/** Names that may be written at a place. */
export function completionsAt(
  asked: AskedPlace,
): { readonly label: string; readonly kind: 'bundle' | 'channel' | 'package' }[] {
  const { folder, file, at } = asked;
  const line = folder.files.get(file)?.line(at.line) ?? '';
  const ofPackage = packageAt(asked);
  const key = keyOf(asked, line);
  const isChannel = (folder.blobsAt(file, at.line)?.channels.length ?? 0) > 0;
  if (key === 'package')
    return [...(folder.world?.catalog.packages.keys() ?? [])].map((label) => ({ label, kind: 'package' }));
  if (key === 'defaultChannel')
    return [...(ofPackage?.channels.keys() ?? [])].map((label) => ({ label, kind: 'channel' }));
  // In a channel, `name` is the bundle of an entry.
  if (!['replaces', 'skips'].includes(key) && !(isChannel && key === 'name')) return [];
  return [...(ofPackage?.bundles.keys() ?? [])].map((label) => ({ label, kind: 'bundle' }));
}

/** A package, channel, entry or bundle, with what is in it. */
export interface OutlineItem {
  readonly name: string;
  readonly detail: string;
  readonly kind: 'package' | 'channel' | 'entry' | 'bundle';
  readonly place: Location;
  readonly children: readonly OutlineItem[];
}

/** The outline of a file: its packages, their channels with entries, and their bundles. */
export function fileOutline(folder: CatalogFolder, file: string): OutlineItem[] {
  const packages = [...(folder.world?.catalog.packages.values() ?? [])];
  return packages.flatMap((ofPackage): OutlineItem[] => {
    const bundles = [...ofPackage.bundles.values()].flatMap((bundle) =>
      symbolOf(folder, file, { blob: bundle, kind: 'bundle', detail: bundle.image, children: [] }),
    );
    const channels = [...ofPackage.channels.values()].flatMap((channel) =>
      symbolOf(folder, file, {
        blob: channel,
        kind: 'channel',
        detail: channel.name === ofPackage.defaultChannel ? 'default channel' : '',
        children: entrySymbols(folder, channel),
      }),
    );
    const children = [...channels, ...bundles];
    const [first] = children;
    const blob = ofPackage.blob;
    const own = blob && folder.placeOf(blob, 'name');
    // The package may be declared in another file: then it begins with the first of its parts here.
    const place = own?.file === file ? own : first?.place;
    return place ? [{ name: ofPackage.name, detail: 'package', kind: 'package', place, children }] : [];
  });
}

/** The outline of a blob with what is in it; none for a blob in another file of the catalog. */
function symbolOf(
  folder: CatalogFolder,
  file: string,
  { blob, ...rest }: Pick<OutlineItem, 'kind' | 'detail' | 'children'> & { readonly blob: Blob },
): OutlineItem[] {
  const place = folder.placeOf(blob, 'name');
  return place?.file === file ? [{ name: blob.name, place, ...rest }] : [];
}

/** The entries of a channel for the outline of an editor; those whose place is not known are left out. */
function entrySymbols(folder: CatalogFolder, channel: Channel): OutlineItem[] {
  return channel.entries.flatMap(({ name, replaces, index }) => {
    const place = folder.placeOf(channel, 'entries', index, 'name');
    const detail = replaces === '' ? '' : `replaces ${replaces}`;
    return place ? [{ name, detail, kind: 'entry' as const, place, children: [] }] : [];
  });
}
