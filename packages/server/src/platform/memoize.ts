/** Computes a value once for each object, and keeps it as long as the object. */
export function memoize<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const computed = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const found = computed.get(key) ?? { value: compute(key) };
    computed.set(key, found);
    return found.value;
  };
}
