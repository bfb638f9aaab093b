/**
 * The release of a bundle into a template, as `release-config.yaml` of operator-pipelines
 * asks for it: entries in channels, and the image. Every other line stays as it is.
 *
 * @see https://github.com/redhat-openshift-ecosystem/operator-pipelines/blob/main/docs/users/fbc_autorelease.md
 */

import { insertedAt } from '../../edit/list.ts';
import { EditError } from '../../edit/package.ts';
import { foldKey } from '../../fbc/blob.ts';
import { isObject, nameLike } from '../../go/shape.ts';
import { compose } from '../../yaml/compose.ts';
import { emitYaml } from '../../yaml/emit.ts';
import { readTree } from '../../yaml/parser.ts';
import type { Json } from '../../yaml/scalar.ts';
import { BASIC_SCHEMA } from './basic.ts';
import { SEMVER_SCHEMA } from './semver-read.ts';

export interface Release {
  readonly package: string;
  /** Name of the bundle. */
  readonly name: string;
  readonly image: string;
  /** Channels of a basic template; `Candidate`, `Fast` or `Stable` of a semver one. */
  readonly channels: readonly string[];
  readonly replaces?: string | undefined;
  readonly skips?: readonly string[] | undefined;
  readonly skipRange?: string | undefined;
  /** The package's new default channel; as it was when left out. */
  readonly defaultChannel?: string | undefined;
}

type Value = Readonly<Record<string, unknown>>;

/**
 * A basic template with the bundle in it; a new one when there was none.
 *
 * @throws EditError for a text that is not such a template, and for an entry that is there and says something else
 */
export function releasedBasic(text: string | undefined, release: Release): string {
  const { package: name, image, channels, defaultChannel } = release;
  const entry = entryOf(release);
  // A package needs a default channel: that of its first bundle may be any of its channels.
  let current = text ?? emptyBasic(name, defaultChannel ?? channels[0] ?? '');
  for (const channel of channels) current = withEntry(current, { channel, name, entry });
  const bundles = entriesOf(current).filter((one) => one['schema'] === 'olm.bundle');
  if (!bundles.some((one) => one['image'] === image))
    current = withItem(current, ['entries'], { schema: 'olm.bundle', image });
  return defaultChannel === undefined ? current : withDefault(current, defaultChannel);
}

/** A basic template with nothing but the package. */
function emptyBasic(name: string, defaultChannel: string): string {
  const entries = [{ schema: 'olm.package', name, defaultChannel }];
  return `---\n${emitYaml({ schema: BASIC_SCHEMA, entries })}`;
}

/** The entry of the release in a channel, with the edges that it names. */
function entryOf({ name, replaces, skips, skipRange }: Release): { [key: string]: Json } {
  return {
    name,
    ...(replaces === undefined ? {} : { replaces }),
    ...(skips === undefined ? {} : { skips: [...skips] }),
    ...(skipRange === undefined ? {} : { skipRange }),
  };
}

interface Placing {
  readonly channel: string;
  readonly name: string;
  readonly entry: { [key: string]: Json };
}

/**
 * A template's text with an entry in a channel, which is made if it does not exist.
 *
 * @throws EditError if the channel has the entry with other edges
 */
function withEntry(text: string, { channel, name, entry }: Placing): string {
  const entries = entriesOf(text);
  const at = entries.findIndex((one) => one['schema'] === 'olm.channel' && one['name'] === channel);
  if (at < 0) {
    return withItem(text, ['entries'], {
      schema: 'olm.channel',
      package: name,
      name: channel,
      entries: [entry],
    });
  }
  const existing = (listAt(entries[at], 'entries') as Value[]).find((one) => one['name'] === entry['name']);
  if (!existing) return withItem(text, ['entries', at, 'entries'], entry);
  if (sortedText(existing) === sortedText(entry)) return text;
  throw new EditError(
    `channel ${JSON.stringify(channel)} has ${entry['name']} already, with other edges`,
    'change the template by hand, or correct release-config.yaml',
  );
}

/** A text that is the same for objects that differ only in the order of their keys. */
function sortedText(value: object): string {
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A template's text with another default channel. @throws EditError if the template contains no package */
function withDefault(text: string, channel: string): string {
  const value = structuredClone(contentOf(text)) as { entries?: { [key: string]: Json }[] } & Value;
  const found = value.entries?.find((one) => one['schema'] === 'olm.package');
  if (!found) throw new EditError('the template has no olm.package, whose defaultChannel would be another');
  if (found['defaultChannel'] === channel) return text;
  const { root } = readTree(text);
  const at = root && defaultChannelAt(root, text);
  if (!at) throw new EditError('the defaultChannel of the template cannot be found');
  return `${text.slice(0, at.start)}${JSON.stringify(channel)}${text.slice(at.end)}`;
}

/** Where the package's default channel is written; undefined where it is not written as it reads, as with escapes. */
function defaultChannelAt(
  root: NonNullable<ReturnType<typeof readTree>['root']>,
  source: string,
): { start: number; end: number } | undefined {
  if (root.kind !== 'mapping') return undefined;
  const list = root.pairs.find(({ key }) => key.kind === 'scalar' && key.text === 'entries')?.value;
  if (list?.kind !== 'sequence') return undefined;
  for (const item of list.items) {
    if (item.kind !== 'mapping') continue;
    const field = (name: string) =>
      item.pairs.find(({ key }) => key.kind === 'scalar' && key.text === name)?.value;
    const [schema, value] = [field('schema'), field('defaultChannel')];
    if (schema?.kind !== 'scalar' || schema.text !== 'olm.package' || value?.kind !== 'scalar') continue;
    const { start, text } = value;
    const written = [text, `"${text}"`, `'${text}'`].find((one) => source.startsWith(one, start));
    return written === undefined ? undefined : { start, end: start + written.length };
  }
  return undefined;
}

/** Channels of a semver template as people write them. */
const ARCHETYPES = ['Candidate', 'Fast', 'Stable'];

/**
 * A semver template with the bundle in it; a new one when there was none.
 *
 * @throws EditError for other channels than `Candidate`, `Fast` and `Stable`, and for edges, which it has none of
 */
export function releasedSemver(text: string | undefined, release: Release): string {
  const { channels, image, replaces, skips, skipRange } = release;
  const unknownChannel = channels.find((channel) => !ARCHETYPES.includes(channel));
  if (unknownChannel !== undefined)
    throw new EditError(
      `${JSON.stringify(unknownChannel)} is not a channel of a semver template`,
      `channels: ${ARCHETYPES.join(', ')}`,
    );
  if (replaces !== undefined || skips !== undefined || skipRange !== undefined)
    throw new EditError('a semver template makes its own edges', 'remove replaces, skips and skipRange');
  let current =
    text ??
    `---\n${emitYaml({ Schema: SEMVER_SCHEMA, GenerateMajorChannels: true, GenerateMinorChannels: true })}`;
  for (const channel of channels) {
    const value = contentOf(current);
    const key = nameLike(Object.keys(value), channel) ?? channel;
    const group = isObject(value[key]) ? value[key] : {};
    const list = nameLike(Object.keys(group), 'bundles') ?? 'Bundles';
    // The key of an image may be written in any case, too.
    const existing = (listAt(group, list) as Value[]).some((one) => Object.values(one).includes(image));
    if (!existing) current = withItem(current, [key, list], { Image: image });
  }
  return current;
}

/** One more item in a list, which is made when there is none. */
function withItem(text: string, path: readonly (string | number)[], item: Json): string {
  const inserted = insertedAt(text, path, item);
  if (inserted !== undefined) return inserted;
  const value = structuredClone(contentOf(text)) as Record<string, unknown>;
  let at: Record<string | number, unknown> = value;
  for (const step of path.slice(0, -1)) {
    at[step] ??= {};
    at = at[step] as Record<string | number, unknown>;
  }
  const last = path.at(-1) ?? '';
  at[last] = [...listAt(at, last), item];
  return `---\n${emitYaml(value as Json)}`;
}

/**
 * The entries of a basic template.
 *
 * @throws EditError for another template, and for a key that would hide the entries
 */
function entriesOf(text: string): Value[] {
  const value = contentOf(text);
  if (value['schema'] !== BASIC_SCHEMA)
    throw new EditError(
      `the template's schema is ${JSON.stringify(value['schema'])}, expected ${BASIC_SCHEMA}`,
    );
  // Rendering finds the list whatever the case of its key; another one beside it would hide what stands there.
  const otherKey = Object.keys(value).find((key) => key !== 'entries' && foldKey(key) === foldKey('entries'));
  if (otherKey !== undefined)
    throw new EditError(`the template has the key ${JSON.stringify(otherKey)}`, 'write it as entries');
  return listAt(value, 'entries').map((one) => (isObject(one) ? one : {}));
}

/** The list under a key; an empty one for another kind of value. */
function listAt(value: unknown, key: string | number): unknown[] {
  const list =
    typeof value === 'object' && value !== null
      ? (value as Record<string | number, unknown>)[key]
      : undefined;
  return Array.isArray(list) ? list : [];
}

/** What a template says. @throws EditError for a text that is not a mapping */
function contentOf(text: string): Value {
  const { root } = readTree(text);
  const value = root && compose(root).value;
  if (!isObject(value)) throw new EditError('the template is not a mapping');
  return value;
}
