/** Makes a function that finds what belongs to an object once, and keeps it as long as there is the object. */
export function onceFor<K extends object, V>(find: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (of) => {
    let found = known.get(of);
    if (!found) {
      found = { value: find(of) };
      known.set(of, found);
    }
    return found.value;
  };
}
