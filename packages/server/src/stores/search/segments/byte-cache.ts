/** A cache whose entries together have at most a number of bytes. The entries that were used last stay. */
export interface ByteCache<Key, Value> {
  get(segment: number, key: Key): Value | undefined;
  /** Adds an entry. One that alone exceeds the limit is not kept. */
  set(segment: number, key: Key, value: Value, bytes: number): void;
}

export function createByteCache<Key extends string | number, Value>(mostBytes: number): ByteCache<Key, Value> {
  /** In the order of their use. */
  const entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  let total = 0;

  function take(name: string) {
    const entry = entries.get(name);
    if (entry !== undefined && entries.delete(name)) total -= entry.bytes;
    return entry;
  }
  function add(name: string, entry: { readonly value: Value; readonly bytes: number }): void {
    entries.set(name, entry);
    total += entry.bytes;
  }
  return {
    get(segment, key) {
      const name = `${segment} ${key}`;
      const entry = take(name);
      if (entry !== undefined) add(name, entry);
      return entry?.value;
    },
    set(segment, key, value, bytes) {
      const name = `${segment} ${key}`;
      take(name);
      if (bytes > mostBytes) return;
      for (const oldest of entries.keys()) {
        if (total + bytes <= mostBytes) break;
        take(oldest);
      }
      add(name, { value, bytes });
    },
  };
}
