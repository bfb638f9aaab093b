/** Equal parts of JSON values as one object, so that what did not change is known by its identity. */

/** Makes a function that gives equal values back as one; what it has seen stays in memory with it. */
export function interner(): <T>(value: T) => T {
  const known = new Map<string, object>();
  const ids = new WeakMap<object, number>();
  const intern = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (ids.has(value)) return value;
    const members = Array.isArray(value)
      ? value.map(intern)
      : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, intern(member)]));
    const shape = Object.entries(members).map(
      ([key, member]) => `${JSON.stringify(key)}:${mark(member, ids)}`,
    );
    const key = `${Array.isArray(value) ? '[' : '{'}${shape.join()}`;
    const same = known.get(key);
    if (same) return same;
    known.set(key, members);
    ids.set(members, known.size);
    return members;
  };
  return intern as <T>(value: T) => T;
}

/** Names a member: an object by its number, all else by what it is. */
function mark(member: unknown, ids: WeakMap<object, number>): string {
  if (typeof member === 'object' && member !== null) return `#${ids.get(member)}`;
  return typeof member === 'bigint' ? `${member}n` : (JSON.stringify(member) ?? 'undefined');
}
