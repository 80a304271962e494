/** A cache whose entries together have at most a number of bytes. The entries that were used last stay. */
export interface ByteCache<Key, Value> {
  get(key: Key): Value | undefined;
  /** Adds an entry. One that alone exceeds the limit is not kept. */
  set(key: Key, value: Value, bytes: number): void;
}

/** A Map keeps the order of insertion, and a used entry is inserted again, so that the first is the oldest. */
export function createByteCache<Key, Value>(mostBytes: number): ByteCache<Key, Value> {
  const entries = new Map<Key, { readonly value: Value; readonly bytes: number }>();
  let total = 0;
  function remove(key: Key): void {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, bytes) {
      remove(key);
      if (bytes > mostBytes) return;
      entries.set(key, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= mostBytes) break;
        remove(oldest);
      }
    },
  };
}
