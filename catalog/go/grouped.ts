/** Groups items by their keys, in the order of the first ones: `Map.groupBy`, which Node 20 does not have. */
export function groupedBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Adds a value to those of a key. */
export function appendToGroup<K, T>(to: Map<K, T[]>, key: K, value: T): void {
  const values = to.get(key);
  if (values) values.push(value);
  else to.set(key, [value]);
}

/** The items for which a test holds, and the others. */
export function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

/** The places of all items that are equal to one before them. */
export function repeatedPlaces(items: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>();
  const repeated = new Set<number>();
  for (const [i, item] of items.entries()) {
    if (seen.has(item)) repeated.add(i);
    seen.add(item);
  }
  return repeated;
}
