/** Makes a function that finds what belongs to an object once, and keeps it as long as there is the object. */
export function onceFor<K extends object, V>(find: (key: K) => V): (key: K) => V {
  const cache = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    // A wrapper tells a value that is undefined from one that was not looked for yet.
    let found = cache.get(key);
    if (!found) {
      found = { value: find(key) };
      cache.set(key, found);
    }
    return found.value;
  };
}
