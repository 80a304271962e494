/**
 * A cache whose entries together have at most a number of bytes. The entries that were used last stay. An entry belongs
 * to a segment and has a key there, because joining the two to one text takes longer than two look-ups.
 */
export interface ByteCache<Key, Value> {
  get(segment: number, key: Key): Value | undefined;
  /** Adds an entry. One that alone exceeds the limit is not kept. */
  set(segment: number, key: Key, value: Value, bytes: number): void;
}

/** The entries form a ring in the order of their use. */
interface Entry<Key, Value> {
  readonly segment: number;
  readonly key: Key;
  readonly value: Value;
  readonly bytes: number;
  older: Entry<Key, Value>;
  newer: Entry<Key, Value>;
}

export function createByteCache<Key, Value>(mostBytes: number): ByteCache<Key, Value> {
  const entries = new Map<number, Map<Key, Entry<Key, Value>>>();
  /** The entry that was used last. The next newer one of a ring is the oldest. */
  let newest: Entry<Key, Value> | undefined;
  let total = 0;

  function insert(entry: Entry<Key, Value>): void {
    const before = newest ?? entry;
    entry.older = before;
    entry.newer = before.newer;
    before.newer.older = entry;
    before.newer = entry;
    newest = entry;
  }
  function takeOut(entry: Entry<Key, Value>): void {
    entry.older.newer = entry.newer;
    entry.newer.older = entry.older;
    if (newest === entry) newest = entry.older === entry ? undefined : entry.older;
    entry.older = entry;
    entry.newer = entry;
  }
  function remove(entry: Entry<Key, Value>): void {
    takeOut(entry);
    total -= entry.bytes;
    const ofSegment = entries.get(entry.segment);
    ofSegment?.delete(entry.key);
    if (ofSegment?.size === 0) entries.delete(entry.segment);
  }
  return {
    get(segment, key) {
      const entry = entries.get(segment)?.get(key);
      if (entry === undefined) return undefined;
      if (entry !== newest) {
        takeOut(entry);
        insert(entry);
      }
      return entry.value;
    },
    set(segment, key, value, bytes) {
      const before = entries.get(segment)?.get(key);
      if (before !== undefined) remove(before);
      if (bytes > mostBytes) return;
      while (newest !== undefined && total + bytes > mostBytes) remove(newest.newer);
      const entry = { segment, key, value, bytes } as Entry<Key, Value>; // a ring of its own follows
      entry.older = entry;
      entry.newer = entry;
      insert(entry);
      total += bytes;
      const ofSegment = entries.get(segment) ?? new Map<Key, Entry<Key, Value>>();
      entries.set(segment, ofSegment.set(key, entry));
    },
  };
}
