/** Fixes as a maintainer would apply them: the text of a finding, written into the entries of its channel. */
import type { WrittenEntry } from '../catalog/olm/universe.ts';

/** What a text asks to write: members of entries by name, and entries to add. */
export interface Asked {
  readonly entry: string;
  readonly member: 'replaces' | 'skips' | 'skipRange' | 'entry';
  readonly value: string;
}

/** Whether a hint is a fix, a text that says exactly what to write. */
export function isFix(hint: string | undefined): hint is string {
  return /^(?:in the entry of |restore the entr(?:y|ies) of )/.test(hint ?? '');
}

/** The entries of a channel with everything that a text asks for. */
export function withFix(entries: readonly WrittenEntry[], text: string): WrittenEntry[] {
  const present = entries.map((one) =>
    partsOf(text)
      .filter((part) => part.startsWith(`in the entry of ${one.name} `))
      .reduce(applied, one),
  );
  const names = new Set(entries.map(({ name }) => name));
  return [...present, ...restoredIn(text).filter(({ name }) => !names.has(name))];
}

/** What a text asks for, place by place, so that two texts can be compared. */
export function askedBy(text: string): Asked[] {
  const members = partsOf(text).flatMap((part): Asked[] => {
    const [, entry = '', what = ''] = /^in the entry of (\S+) (.*)$/.exec(part) ?? [];
    const [, removed] = /^remove (\S+) from skips/.exec(what) ?? [];
    if (removed !== undefined) return [{ entry, member: 'skips', value: what }];
    const [, member = '', value = ''] = /^set (replaces|skips|skipRange): (.*)$/.exec(what) ?? [];
    return [{ entry, member: member as Asked['member'], value }];
  });
  const restored = restoredIn(text).map((entry): Asked => {
    return { entry: entry.name, member: 'entry', value: JSON.stringify(entry) };
  });
  return [...members, ...restored];
}

function partsOf(text: string): string[] {
  const own = text.replace(': an entry must not skip what it replaces', '');
  return own.split(/; (?=in the entry of|restore the)/).filter((part) => part.startsWith('in the entry'));
}

/** An entry with what one part of a fix's text says of it. */
export function applied(one: WrittenEntry, part: string): WrittenEntry {
  const [, removed] = / remove (\S+?)(?:,)? from skips/.exec(part) ?? [];
  if (removed !== undefined) return { ...one, skips: (one.skips ?? []).filter((name) => name !== removed) };
  const [, replaces] = / set replaces: (\S+)$/.exec(part) ?? [];
  if (replaces !== undefined) return { ...one, replaces };
  const [, skips] = / set skips: \[(.*)\]$/.exec(part) ?? [];
  if (skips !== undefined) return { ...one, skips: skips.split(', ') };
  const [, skipRange] = / set skipRange: '(.*)'$/.exec(part) ?? [];
  if (skipRange !== undefined) return { ...one, skipRange };
  throw new Error(part);
}

/** Entries that a text restores, as `- {name: …, skips: […]}`. */
function restoredIn(text: string): WrittenEntry[] {
  return [
    ...text.matchAll(
      /- \{name: ([^,}]+)(?:, replaces: ([^,}]+))?(?:, skips: \[([^\]]*)\])?(?:, skipRange: '([^']*)')?\}/g,
    ),
  ].map(([, name = '', replaces, skips, skipRange]) => ({
    name,
    ...(replaces === undefined ? {} : { replaces }),
    ...(skips === undefined ? {} : { skips: skips.split(', ') }),
    ...(skipRange === undefined ? {} : { skipRange }),
  }));
}
