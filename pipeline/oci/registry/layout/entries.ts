/**
 * `index.json` of an OCI image layout as data: which manifests a directory holds, under which
 * names. A layout has one flat list of names; repositories are put into it so that other tools
 * read the plain case as they always do:
 *
 * - `v1`: the tag `v1` of the layout's own repository, whose name here is the empty text;
 * - `catalogs/prod:v1`: the tag `v1` of the repository `catalogs/prod`;
 * - no name: a manifest that only its digest names, of the repository in the annotation
 *   `dev.portolan.repository`, or of the layout's own.
 *
 * Names that are neither, and everything else in the file, stay as they are.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
import { itemsOf } from '../../../../catalog/go/shape.ts';
import { parsedJson, parseJson } from '../../../../catalog/json.ts';
import { PipelineError } from '../../../error.ts';
import type { Descriptor } from '../../../ports.ts';
import { OCI_INDEX } from '../../media-types.ts';
import { readDescriptor } from '../image.ts';
import { formatLayoutTag, parseLayoutTag } from '../name.ts';

export const REF_NAME = 'org.opencontainers.image.ref.name';
export const REPOSITORY = 'dev.portolan.repository';

export interface Entry {
  readonly descriptor: Descriptor;
  /** Undefined for a name that this scheme cannot read. */
  readonly repository: string | undefined;
  readonly tag: string | undefined;
  /** The descriptor as the file has it, including fields of other programs. */
  readonly raw: Raw;
}

/** The file: its entries, and the rest of it untouched. */
export interface LayoutIndex {
  readonly entries: readonly Entry[];
  readonly rest: Raw;
}

type Raw = Readonly<Record<string, unknown>>;

export const EMPTY_INDEX: LayoutIndex = { entries: [], rest: { schemaVersion: 2, mediaType: OCI_INDEX } };

/** Reads the index.json of a layout. @throws PipelineError `corrupt` when the file is not an index */
export function parseIndex(bytes: Uint8Array, path: string): LayoutIndex {
  const bad = (why: string): PipelineError => new PipelineError('corrupt', `${path} ${why}`);
  let json: unknown;
  try {
    json = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw bad('is not valid JSON');
  }
  const { manifests: listed, ...rest } = Object(json) as { manifests?: unknown };
  // Programs in Go write an empty list so.
  const manifests = listed === null ? [] : listed;
  if (!Array.isArray(manifests)) throw bad('has no list of manifests');
  return { entries: manifests.map((raw: unknown) => readEntry(raw, bad)), rest };
}

/** An entry of the index, in the repository and under the tag that its annotations name. */
function readEntry(raw: unknown, bad: (why: string) => PipelineError): Entry {
  const read = readDescriptor(raw, bad);
  return { descriptor: read, raw: raw as Raw, ...placeIn(read.annotations ?? {}) };
}

/**
 * The repository and tag that the annotations of an entry name. A name that this scheme cannot read is of no
 * repository.
 */
function placeIn(annotations: Readonly<Record<string, string>>): Pick<Entry, 'repository' | 'tag'> {
  const name = Object.hasOwn(annotations, REF_NAME) ? annotations[REF_NAME] : undefined;
  if (name === undefined) {
    const repository = Object.hasOwn(annotations, REPOSITORY) ? annotations[REPOSITORY] : undefined;
    return { repository: repository ?? '', tag: undefined };
  }
  return parseLayoutTag(name) ?? { repository: undefined, tag: undefined };
}

/** The file's text; entries that were read are written as they were. */
export function formatIndex({ entries, rest }: LayoutIndex): string {
  return `${JSON.stringify({ ...rest, manifests: entries.map(({ raw }) => raw) }, null, 2)}\n`;
}

/** The entry with another place: annotations of others are kept. */
function placedEntry(
  entry: Pick<Entry, 'descriptor' | 'raw'>,
  repository: string,
  tag: string | undefined,
): Entry {
  const { annotations: before, ...rest } = entry.raw;
  const annotations: Record<string, string> = { ...Object(before) };
  delete annotations[REF_NAME];
  delete annotations[REPOSITORY];
  if (tag !== undefined) annotations[REF_NAME] = formatLayoutTag({ repository, tag });
  else if (repository !== '') annotations[REPOSITORY] = repository;
  const raw = Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
  return { descriptor: { ...entry.descriptor, annotations }, repository, tag, raw };
}

interface Placing {
  readonly repository: string;
  /** Undefined for a manifest that only its digest names. */
  readonly tag: string | undefined;
  readonly descriptor: Descriptor;
  /** Digests of the manifests of a list, and of theirs: they need no entry of their own. */
  readonly within: ReadonlySet<string>;
  /** Digests that other entries' lists hold. */
  readonly held: ReadonlySet<string>;
}

/**
 * The entries with one more manifest, or with a tag moved to it. What a tag named before keeps
 * an entry without a name, as registries keep it under its digest.
 */
export function withManifest(entries: readonly Entry[], placing: Placing): readonly Entry[] {
  const { repository, tag, descriptor, within, held } = placing;
  const isHere = (entry: Entry): boolean => entry.repository === repository;
  const isSame = (entry: Entry): boolean => isHere(entry) && entry.descriptor.digest === descriptor.digest;
  // Nothing changes for what is there already, by its digest or under its tag.
  if (tag === undefined) {
    if (held.has(descriptor.digest) || entries.some(isSame)) return entries;
  } else if (entries.some((entry) => isSame(entry) && entry.tag === tag)) return entries;
  const { mediaType, digest, size, artifactType } = descriptor;
  const raw = { mediaType, digest, size, ...(artifactType === undefined ? {} : { artifactType }) };
  const others = entries
    .map((entry) =>
      tag !== undefined && isHere(entry) && entry.tag === tag
        ? placedEntry(entry, repository, undefined)
        : entry,
    )
    // An entry that nothing but a digest names is not needed beside the new one, or beside the list that holds it.
    .filter(
      (entry) =>
        !(isHere(entry) && entry.tag === undefined && (isSame(entry) || within.has(entry.descriptor.digest))),
    );
  return withoutDoubles([...others, placedEntry({ descriptor, raw }, repository, tag)], repository);
}

/** The entries without superfluous ones: a nameless entry whose manifest has a name, or another nameless entry. */
function withoutDoubles(entries: readonly Entry[], repository: string): readonly Entry[] {
  const named = new Set<string>();
  for (const entry of entries) {
    if (entry.repository === repository && entry.tag !== undefined) named.add(entry.descriptor.digest);
  }
  return entries.filter((entry) => {
    if (entry.repository !== repository || entry.tag !== undefined) return true;
    if (named.has(entry.descriptor.digest)) return false;
    named.add(entry.descriptor.digest);
    return true;
  });
}

/** The entries without a tag; its manifest stays under its digest. */
export function withoutTag(entries: readonly Entry[], repository: string, tag: string): readonly Entry[] {
  const changed = entries.map((entry) =>
    entry.repository === repository && entry.tag === tag ? placedEntry(entry, repository, undefined) : entry,
  );
  return withoutDoubles(changed, repository);
}

/** The entries without a manifest and all its tags; the manifests of a list stay, each by itself. */
export function withoutManifest(
  entries: readonly Entry[],
  { repository, digest, orphans }: { repository: string; digest: string; orphans: readonly Descriptor[] },
): readonly Entry[] {
  const others = entries.filter(
    (entry) => !(entry.repository === repository && entry.descriptor.digest === digest),
  );
  const orphanEntries = orphans.map((orphan) => {
    const { mediaType, digest: name, size } = orphan;
    return placedEntry({ descriptor: orphan, raw: { mediaType, digest: name, size } }, repository, undefined);
  });
  return withoutDoubles([...others, ...orphanEntries], repository);
}

/** A change of an index. It is data, so that it can be recorded before the index is written. */
export type IndexChange =
  | ({ readonly kind: 'put' } & Placing)
  | { readonly kind: 'untag'; readonly repository: string; readonly tag: string }
  | {
      readonly kind: 'remove';
      readonly repository: string;
      readonly digest: string;
      readonly orphans: readonly Descriptor[];
    };

/** The entries after a change. A series of changes made a second time leaves the entries as they are. */
export function afterChange(entries: readonly Entry[], change: IndexChange): readonly Entry[] {
  if (change.kind === 'put') return withManifest(entries, change);
  if (change.kind === 'untag') return withoutTag(entries, change.repository, change.tag);
  return withoutManifest(entries, change);
}

/** A change as one line of the journal, in JSON; sets become lists. */
export function formatChange(change: IndexChange): string {
  const value =
    change.kind === 'put' ? { ...change, within: [...change.within], held: [...change.held] } : change;
  return `${JSON.stringify(value)}\n`;
}

/**
 * The changes of whole lines: a last line without its end was never acknowledged.
 *
 * @throws PipelineError `corrupt` when one is not a change
 */
export function parseChanges(text: string, path: string): IndexChange[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line, i) => {
    const bad = (why: string): PipelineError => new PipelineError('corrupt', `${path}:${i + 1} ${why}`);
    const { kind, repository, tag, ...rest } = Object(parsedJson(line)) as Record<string, unknown>;
    // A change without a tag is checked as if it had a valid one.
    const name = typeof repository === 'string' ? { repository, tag: String(tag ?? 'none') } : undefined;
    if (name === undefined || parseLayoutTag(formatLayoutTag(name)) === undefined)
      throw bad('names no repository');
    if (kind === 'untag') return { kind, ...name };
    if (kind === 'remove') {
      const orphans = itemsOf(rest['orphans']).map((one) => readDescriptor(one, bad));
      return { kind, repository: name.repository, digest: String(rest['digest']), orphans };
    }
    if (kind !== 'put') throw bad('is not a change of the index');
    return {
      kind,
      repository: name.repository,
      tag: tag === undefined ? undefined : name.tag,
      descriptor: readDescriptor(rest['descriptor'], bad),
      within: new Set(itemsOf(rest['within']).map(String)),
      held: new Set(itemsOf(rest['held']).map(String)),
    };
  });
}
