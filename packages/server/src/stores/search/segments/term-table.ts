/** Numbers the distinct terms of some chunks, from 0 in the order of their first occurrence. */
export interface TermTable {
  readonly size: number;
  /** Returns the number of the term that the bytes from `from` to before `to` spell. A new term gets the next number. */
  numberOf(bytes: Uint8Array, from: number, to: number): number;
  /** Returns the UTF-8 of a term. */
  term(number: number): Uint8Array;
}

const firstPlaces = 8192;
const firstBytes = 65_536;

/** A hash table with open addressing over the bytes. It creates no object for a term. */
export function createTermTable(): TermTable {
  /** Each place has one more than the number of a term, or 0. The number of places is a power of two. */
  let places = new Int32Array(firstPlaces);
  let hashes = new Int32Array(firstPlaces / 2);
  /** Where each term begins in `texts`; one more entry than terms. */
  let starts = new Int32Array(firstPlaces / 2 + 1);
  let texts = new Uint8Array(firstBytes);
  let size = 0;

  function isTerm(number: number, bytes: Uint8Array, from: number): boolean {
    const start = starts[number] as number;
    const length = (starts[number + 1] as number) - start;
    for (let at = 0; at < length; at++) if (texts[start + at] !== bytes[from + at]) return false;
    return true;
  }
  function enlarge(): void {
    const larger = new Int32Array(2 * places.length);
    for (let number = 0; number < size; number++) {
      let place = (hashes[number] as number) & (larger.length - 1);
      while (larger[place] !== 0) place = (place + 1) & (larger.length - 1);
      larger[place] = number + 1;
    }
    places = larger;
    hashes = copyInto(new Int32Array(2 * hashes.length), hashes);
    starts = copyInto(new Int32Array(2 * hashes.length + 1), starts);
  }
  function append(bytes: Uint8Array, from: number, to: number): void {
    const start = starts[size] as number;
    const end = start + to - from;
    if (end > texts.length) texts = copyInto(new Uint8Array(Math.max(2 * texts.length, end)), texts);
    for (let at = from; at < to; at++) texts[start + at - from] = bytes[at] as number;
    size++;
    starts[size] = end;
  }
  return {
    get size() {
      return size;
    },
    numberOf(bytes, from, to) {
      const hash = hashOf(bytes, from, to);
      const mask = places.length - 1;
      let place = hash & mask;
      for (let found = places[place] as number; found !== 0; found = places[place] as number) {
        const length = (starts[found] as number) - (starts[found - 1] as number);
        if (hashes[found - 1] === hash && length === to - from && isTerm(found - 1, bytes, from)) return found - 1;
        place = (place + 1) & mask;
      }
      const number = size;
      places[place] = number + 1;
      hashes[number] = hash;
      append(bytes, from, to);
      if (2 * size === places.length) enlarge();
      return number;
    },
    term: (number) => texts.subarray(starts[number], starts[number + 1]),
  };
}

/** FNV-1a, with a last step that lets all bytes reach the low bits. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

function copyInto<Values extends Int32Array | Uint8Array>(larger: Values, values: Values): Values {
  larger.set(values);
  return larger;
}
