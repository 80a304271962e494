/** Names of requests in memory that two threads share. One thread writes them; the other reads them when the first is blocked. */
export interface RequestRing {
  /** Records a request and returns its number. It replaces the oldest entry of the ring. */
  begin(name: string): number;
  /** Removes an answered request. */
  end(number: number): void;
  /** The names of the unanswered requests, newest first. */
  unanswered(): string[];
}

const slots = 64;
/** The size of a slot. Its first byte is the length of the name; longer names are cut. */
const slotBytes = 256;
const headerBytes = 4 * (1 + slots);
const encoder = new TextEncoder();

export function createRingMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(headerBytes + slots * slotBytes);
}

export function openRequestRing(memory: SharedArrayBuffer): RequestRing {
  const count = new Int32Array(memory, 0, 1);
  const numbers = new Int32Array(memory, 4, slots);
  const bytes = new Uint8Array(memory, headerBytes);
  const names = Array.from({ length: slots }, (_, slot) =>
    bytes.subarray(slot * slotBytes + 1, (slot + 1) * slotBytes),
  );

  return {
    begin(name) {
      const number = ((count[0] ?? 0) + 1) & 0x3fffffff;
      const slot = number % slots;
      const { written } = encoder.encodeInto(name, names[slot] as Uint8Array);
      bytes[slot * slotBytes] = written;
      numbers[slot] = number;
      count[0] = number;
      return number;
    },
    end(number) {
      const slot = number % slots;
      if (numbers[slot] === number) bytes[slot * slotBytes] = 0;
    },
    unanswered() {
      const found: string[] = [];
      const newest = count[0] ?? 0;
      for (let number = newest; number > newest - slots; number--) {
        const slot = ((number % slots) + slots) % slots;
        const length = bytes[slot * slotBytes] ?? 0;
        // Copied, because shared memory cannot be decoded.
        if (length > 0) found.push(Buffer.from(names[slot]?.slice(0, length) ?? []).toString());
      }
      return found;
    },
  };
}
