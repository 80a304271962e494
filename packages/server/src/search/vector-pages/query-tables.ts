import type { KernelHeap } from './kernel-heap.ts';

/** A question, relative to the centre of pages, as the kernel needs it. */
export interface CentredQuery {
  /** Address of the tables of `sum`. */
  readonly tables: number;
  /** Address of the numbers of 16 bits for `dot`. */
  readonly whole: number;
  /** sum of signs · query = step · sum + offset. */
  readonly step: number;
  readonly offset: number;
  /** query = unit · whole number. */
  readonly unit: number;
  readonly wholeSum: number;
  readonly length: number;
  /** ⟨c, q⟩ − ⟨c, c⟩ */
  readonly fromCentre: number;
}

/** Two values of a table must fit into a byte. */
const mostLevels = 127;
const mostSum = 65_535;
/** The product with nibbles of 8,192 dimensions must fit into 32 bits. */
const mostWhole = 8191;

/** Writes the query minus the centre at two addresses, which have 4 and 2 bytes for each dimension. */
export function writeQuery(
  heap: KernelHeap,
  query: Float32Array,
  centre: Float32Array,
  { tables, whole }: { tables: number; whole: number },
): CentredQuery {
  const width = query.length;
  const centred = new Float32Array(width);
  let [square, fromCentre, largest] = [0, 0, 0];
  for (let i = 0; i < width; i++) {
    const c = centre[i] as number;
    const value = (query[i] as number) - c;
    centred[i] = value;
    square += value * value;
    fromCentre += c * value;
    largest = Math.max(largest, Math.abs(value));
  }
  const unit = largest / mostWhole || 1;
  const numbers = new Int16Array(heap.memory.buffer, whole, width);
  let wholeSum = 0;
  for (let i = 0; i < width; i++) {
    const number = Math.round((centred[i] as number) / unit);
    numbers[i] = number;
    wholeSum += number;
  }
  const signs = writeTables(new Uint8Array(heap.memory.buffer, tables, width * 4), centred);
  return { tables, whole, ...signs, unit, wholeSum, length: Math.sqrt(square), fromCentre };
}

/** Table g says for each nibble what the four dimensions of group g add to the sum, as a number of steps above the least. */
function writeTables(bytes: Uint8Array, centred: Float32Array): { step: number; offset: number } {
  const groups = centred.length / 4;
  let [widest, offset] = [0, 0];
  for (let i = 0; i < centred.length; i += 4) {
    const sum = absolute(centred, i) + absolute(centred, i + 1) + absolute(centred, i + 2) + absolute(centred, i + 3);
    widest = Math.max(widest, 2 * sum);
    offset -= sum;
  }
  const step = widest / Math.min(mostLevels, Math.floor(mostSum / groups)) || 1;
  const doubled = 2 / step;
  for (let i = 0, at = 0; i < centred.length; i += 4, at += 16) {
    const a = (centred[i] as number) * doubled;
    const b = (centred[i + 1] as number) * doubled;
    const c = (centred[i + 2] as number) * doubled;
    const d = (centred[i + 3] as number) * doubled;
    const least = Math.min(a, 0) + Math.min(b, 0) + Math.min(c, 0) + Math.min(d, 0) - 0.5;
    for (let nibble = 0; nibble < 16; nibble++) {
      const value = (nibble & 1 ? a : 0) + (nibble & 2 ? b : 0) + (nibble & 4 ? c : 0) + (nibble & 8 ? d : 0);
      bytes[at + nibble] = value - least;
    }
  }
  return { step, offset };
}

const absolute = (values: Float32Array, at: number) => Math.abs(values[at] as number);
