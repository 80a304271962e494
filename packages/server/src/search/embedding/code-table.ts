const bytesPerSeq = 8;

/** The codes of one collection in packed arrays, whose capacity doubles when they are full. */
export interface CodeTable {
  readonly bytes: number;
  readonly count: number;
  add(seqs: Float64Array, codes: Uint8Array): void;
  /** Returns the seqs of the `count` codes nearest to the query, best first. A seq that was added twice counts once. */
  nearest(query: Float32Array, count: number): Float64Array;
}

/** `width` is the number of bytes of one code. */
export function createCodeTable(width: number): CodeTable {
  let seqs = new Float64Array(256);
  let codes = new Uint8Array(256 * width);
  let used = 0;
  return {
    get bytes() {
      return seqs.byteLength + codes.byteLength;
    },
    get count() {
      return used;
    },
    add(newSeqs, newCodes) {
      const needed = used + newSeqs.length;
      if (needed > seqs.length) {
        const capacity = Math.max(needed, Math.ceil(seqs.length * 1.5));
        seqs = copyInto(new Float64Array(capacity), seqs);
        codes = copyInto(new Uint8Array(capacity * width), codes);
      }
      seqs.set(newSeqs, used);
      codes.set(newCodes, used * width);
      used = needed;
    },
    nearest(query, count) {
      const scores = scoreAll(codes, { width, count: used, query });
      return pickBest(scores, seqs, count);
    },
  };
}

/** Returns the size in bytes of a table of `count` codes. */
export function tableBytes(count: number, width: number): number {
  return count * (width + bytesPerSeq);
}

function copyInto<Table extends Float64Array | Uint8Array>(target: Table, source: Table): Table {
  target.set(source);
  return target;
}

/**
 * Computes Σ query[i] · sign(code[i]) for each code. The query stays exact, which finds more than comparing bits with
 * bits. The contribution of each value of each byte is computed once.
 */
function scoreAll(codes: Uint8Array, of: { width: number; count: number; query: Float32Array }): Float32Array {
  const { width, count, query } = of;
  const shares = sharesOf(query, width);
  const scores = new Float32Array(count);
  for (let n = 0, at = 0; n < count; n++) {
    let score = 0;
    for (let byte = 0; byte < width; byte++, at++) score += shares[(byte << 8) | (codes[at] ?? 0)] ?? 0;
    scores[n] = score;
  }
  return scores;
}

function sharesOf(query: Float32Array, width: number): Float32Array {
  const shares = new Float32Array(width * 256);
  for (let byte = 0; byte < width; byte++) {
    let none = 0;
    for (let bit = 0; bit < 8; bit++) none -= query[byte * 8 + bit] ?? 0;
    shares[byte << 8] = none;
    for (let value = 1; value < 256; value++) {
      const lowest = Math.log2(value & -value);
      const without = shares[(byte << 8) | (value & (value - 1))] ?? 0;
      shares[(byte << 8) | value] = without + 2 * (query[byte * 8 + lowest] ?? 0);
    }
  }
  return shares;
}

/** Selects the best with a rising threshold: candidates are sorted and truncated when they reach twice the count. */
function pickBest(scores: Float32Array, seqs: Float64Array, count: number): Float64Array {
  let candidates: number[] = [];
  let least = Number.NEGATIVE_INFINITY;
  const cut = () => {
    candidates.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
    candidates = candidates.slice(0, count);
    if (candidates.length === count) least = scores[candidates[count - 1] ?? 0] ?? 0;
  };
  for (let n = 0; n < scores.length; n++) {
    if ((scores[n] ?? 0) <= least) continue;
    candidates.push(n);
    if (candidates.length >= 2 * count) cut();
  }
  cut();
  return Float64Array.from(new Set(candidates.map((n) => seqs[n] ?? 0)));
}
