/** Equal parts of schemas as one object, so that what did not change is known by its identity. */
import { ownText } from '../go/text.ts';

/**
 * Makes a function that gives equal JSON values back as one object. It changes the value that it gets: what was seen before
 * stands in the place of its equal.
 */
export function valueInterner(): <T>(value: T) => T {
  const byContent = new Map<string, object>();
  const ids = new Map<object, number>();
  // Descriptions are long: a number for each keeps the keys short.
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  const numberOf = (text: string): number => {
    const number = numbers.get(text);
    if (number !== undefined) return number;
    const own = ownText(text);
    numbers.set(own, texts.length);
    return texts.push(own) - 1;
  };
  const intern = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || ids.has(value)) return value;
    const members = value as Record<string, unknown>;
    // The content as a text. A sign tells members apart: # stands before an object's number, " before a text's, :
    // before any other value.
    let key = Array.isArray(value) ? '[' : '{';
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (typeof member === 'object' && member !== null) {
        const same = intern(member) as object;
        if (same !== member) members[name] = same;
        key += `${numberOf(name)}#${ids.get(same)},`;
      } else if (typeof member === 'string') {
        const number = numberOf(member);
        members[name] = texts[number];
        key += `${numberOf(name)}"${number},`;
      } else key += `${numberOf(name)}:${typeof member === 'bigint' ? `${member}n` : String(member)},`;
    }
    const same = byContent.get(key);
    if (same) return same;
    byContent.set(key, value);
    ids.set(value, ids.size);
    return value;
  };
  return intern as <T>(value: T) => T;
}
