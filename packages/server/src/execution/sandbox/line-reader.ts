/** Splits a stream into lines. A line longer than `maxBytes()` ends the reading with one call of `onTooLong`. */
export function createLineReader(reader: {
  readonly onLine: (line: string) => void;
  readonly onTooLong: () => void;
  readonly maxBytes: () => number;
}): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let ended = false;
  return (chunk) => {
    let start = 0;
    while (!ended) {
      const found = chunk.indexOf(0x0a, start);
      const end = found < 0 ? chunk.length : found;
      if (heldBytes + end - start > reader.maxBytes()) {
        ended = true;
        held = [];
        return reader.onTooLong();
      }
      if (found < 0) break;
      const tail = chunk.subarray(start, end);
      start = end + 1;
      const line = heldBytes === 0 ? tail : Buffer.concat([...held, tail]);
      held = [];
      heldBytes = 0;
      reader.onLine(line.toString('utf8'));
    }
    if (ended || start >= chunk.length) return;
    held.push(chunk.subarray(start));
    heldBytes += chunk.length - start;
  };
}
