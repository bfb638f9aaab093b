/** The list of the corpus: repositories with their layout, and what is known of their merges. */
import { readFileSync } from 'node:fs';
import { CORE_SCHEMA, load } from 'js-yaml';
import { isObject } from '../../catalog/go/shape.ts';

export interface CorpusEntry {
  /** `OWNER/NAME` on GitHub, or the path of a clone. */
  readonly repository: string;
  readonly name: string;
  /** A commit, branch or ref; the clone's HEAD without it. */
  readonly commit: string;
  readonly half: 'open' | 'blind';
  readonly words: string;
  /** Paths of catalogs, folders or files; undefined where nobody has written them down. */
  readonly catalogs: readonly string[] | undefined;
  /** Abbreviated commits of merges that must be stopped. */
  readonly harmful: readonly string[];
  /** Abbreviated commits of merges that must not be stopped. */
  readonly harmless: readonly string[];
}

/** Entries of a YAML or JSON list, or of a file with one JSON object a line. @throws Error with the entry's place */
export function readEntries(path: string): CorpusEntry[] {
  const text = readFileSync(path, 'utf8');
  const texts = path.endsWith('.jsonl') ? text.split('\n').filter((line) => line !== '') : [text];
  return texts
    .flatMap((one): unknown[] => {
      const value: unknown = load(one, { schema: CORE_SCHEMA });
      return Array.isArray(value) ? value : [value];
    })
    .map((value, i) => entryOf(value, `${path}: entry ${i + 1}`));
}

function entryOf(value: unknown, where: string): CorpusEntry {
  if (!isObject(value)) throw new Error(`${where} is not a map`);
  const text = (key: string): string | undefined => {
    const found = value[key];
    return found === undefined || found === null ? undefined : String(found);
  };
  const list = (key: string): string[] | undefined => {
    const found = value[key];
    if (found === undefined || found === null) return undefined;
    if (!Array.isArray(found)) throw new Error(`${where}: ${key} is not a list`);
    return found.map((one: unknown) => String(isObject(one) ? one['path'] : one));
  };
  const repository = text('clone') ?? text('repository') ?? text('repo');
  if (repository === undefined) throw new Error(`${where} has no repository`);
  return {
    repository,
    name: text('repository') ?? text('repo') ?? repository,
    commit: text('commit') ?? text('branch') ?? 'HEAD',
    half: text('half') === 'blind' ? 'blind' : 'open',
    words: text('words') ?? text('notes') ?? '',
    catalogs: list('catalogs'),
    harmful: list('harmful') ?? [],
    harmless: list('harmless') ?? [],
  };
}
