/** The edit of a channel's entries as a patch that `git apply` takes. All lines that the edit does not need stay as they are. */
import { type FileText, fileText, joinedText } from '../../../catalog/edit/file.ts';
import { withItems } from '../../../catalog/edit/list.ts';
import type { Entry } from '../../../catalog/fbc/model.ts';
import type { Location } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import type { Repository } from '../../git/repository.ts';
import { entryAt } from '../../git/tree.ts';
import { plainText } from '../../text.ts';

/** Lines around a change, as in the patches of git. */
const CONTEXT = 3;
/** Longer patches nobody reads: the fix is then given as text. */
const MOST_LINES = 400;
/** Largest file that gets a patch, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024;

interface Edit {
  readonly package: string;
  readonly channel?: string;
  readonly entries?: readonly Entry[];
  /** A place in the channel's file. */
  readonly location?: Location;
}

/**
 * A fix as a patch of one file.
 *
 * @returns undefined where the file does not have the channel with as many entries, and as `hunkOf`
 */
export async function patchOf(
  { objects }: Repository,
  commit: string,
  { package: name, channel, entries, location }: Edit,
): Promise<string | undefined> {
  if (!location || !entries || channel === undefined) return undefined;
  const found = await entryAt(objects, commit, location.file);
  if (!found) return undefined;
  const before = fileText(location.file, (await objects.read(found.id, MOST_BYTES)).bytes);
  const after = editedFile(before, { package: name, channel, entries });
  return after && hunkOf(location.file, joinedText(before), joinedText(after));
}

/**
 * The file with a channel's entries changed; undefined if the entries are not in it, or if a fix adds or removes some.
 */
function editedFile(
  file: FileText,
  { package: name, channel, entries }: Required<Omit<Edit, 'location'>>,
): FileText | undefined {
  const wanted = new Map(entries.map((entry) => [entry.name, entry]));
  const at = file.pieces.findIndex(
    ({ blob }) => blob?.schema === 'olm.channel' && blob.package === name && blob.name === channel,
  );
  const piece = file.pieces[at];
  const list = piece?.blob?.value['entries'];
  // A fix that writes new entries gets no patch.
  if (!piece || !Array.isArray(list) || list.length !== entries.length) return undefined;
  const changed = withItems(piece, file.format, ['entries'], (item) => {
    const entry = isObject(item) ? wanted.get(String(item['name'])) : undefined;
    return entry && isObject(item) ? withEdges(item, entry) : item;
  });
  return { ...file, pieces: file.pieces.map((one, i) => (i === at ? changed : one)) };
}

/** An entry as it is written, with other edges; the item itself if they are the same. An empty field is left out. */
function withEdges(item: Readonly<Record<string, unknown>>, { replaces, skips, skipRange }: Entry): Json {
  const edges: Readonly<Record<string, Json>> = { replaces, skips: [...skips], skipRange };
  const isEmpty = (value: unknown): boolean =>
    value === undefined || value === '' || JSON.stringify(value) === '[]';
  const changed = Object.entries(edges).filter(
    ([key, value]) =>
      !(isEmpty(value) && isEmpty(item[key])) && JSON.stringify(value) !== JSON.stringify(item[key]),
  );
  if (changed.length === 0) return item as Json;
  const next: Record<string, Json> = { ...(item as Record<string, Json>) };
  for (const [key, value] of changed) {
    if (isEmpty(value)) delete next[key];
    else next[key] = value;
  }
  return next;
}

/**
 * A patch of one hunk, from the first line that differs to the last.
 *
 * @returns undefined for a text without a line feed at its end, for equal texts, for more than {@link MOST_LINES} lines, and
 *   for characters that nobody sees
 */
function hunkOf(file: string, before: string, after: string): string | undefined {
  // Without a line break at the end, a patch needs a line that says so: such files get none.
  if (!before.endsWith('\n') || !after.endsWith('\n')) return undefined;
  const [old, now] = [before.slice(0, -1).split('\n'), after.slice(0, -1).split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const [gone, come] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  if (gone.length + come.length === 0 || gone.length + come.length > MOST_LINES) return undefined;
  const above = old.slice(Math.max(0, start - CONTEXT), start);
  const below = old.slice(old.length - end, old.length - end + CONTEXT);
  const lines = [
    ...above.map((line) => ` ${line}`),
    ...gone.map((line) => `-${line}`),
    ...come.map((line) => `+${line}`),
    ...below.map((line) => ` ${line}`),
  ];
  // Characters that nobody sees could hide what a patch does.
  if ([file, ...lines].some((line) => plainText(line) !== line)) return undefined;
  const [from, kept] = [start - above.length + 1, above.length + below.length];
  const range = `@@ -${from},${kept + gone.length} +${from},${kept + come.length} @@`;
  return `${[`--- a/${file}`, `+++ b/${file}`, range, ...lines].join('\n')}\n`;
}
