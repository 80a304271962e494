/**
 * The WebAssembly module that compares codes, written as instructions of the binary format
 * (https://webassembly.github.io/spec/core/binary/). It has no branches other than counted loops, and its caller passes
 * every address. `kernel.test.ts` compares each function with plain JavaScript.
 */

type Code = ReadonlyArray<number | Code>;

const i32 = 0x7f;
const f32 = 0x7d;
const v128 = 0x7b;

const get = (local: number): Code => [0x20, unsigned(local)];
const set = (local: number): Code => [0x21, unsigned(local)];
const i32Const = (value: number): Code => [0x41, signed(value)];
const i32Add = 0x6a;
const simd = (opcode: number, ...operands: Code): Code => [0xfd, unsigned(opcode), operands];
const load = (offset = 0): Code => simd(0x00, 0, unsigned(offset));
const store = (offset = 0): Code => simd(0x0b, 0, unsigned(offset));
const and = simd(0x4e);
/** Relaxed: indices are below 16. */
const swizzle = simd(0x100);
const shuffle = (places: readonly number[]): Code => simd(0x0d, ...places);
const i8x16 = { splat: simd(0x0f), add: simd(0x6e) };
const i16x8 = {
  ...{ add: simd(0x8e), sub: simd(0x91), shiftLeft: simd(0x8b), shiftRight: simd(0x8d) },
  ...{ extendLow: simd(0x89), extendHigh: simd(0x8a) },
};
const i32x4 = {
  ...{ add: simd(0xae), dot: simd(0xba), extendLow: simd(0xa9), extendHigh: simd(0xaa) },
  component: (place: number): Code => simd(0x1b, place),
};
const f32x4 = {
  ...{ splat: simd(0x13), add: simd(0xe4), mul: simd(0xe6), max: simd(0xe9), fromWhole: simd(0xfb) },
  component: (place: number): Code => simd(0x1f, place),
};
const f32Max = 0x97;
const f32Store: Code = [0x38, 2, 0];

/** Adds a constant to a local number. */
const advance = (local: number, by: number): Code => [get(local), i32Const(by), i32Add, set(local)];
/** Repeats the body as often as the local, which is at least 1, tells. */
const repeat = (counter: number, body: Code): Code => [
  ...[0x03, 0x40, body],
  ...[get(counter), i32Const(-1), i32Add, 0x22, unsigned(counter), 0x0d, 0, 0x0b],
];

const lowNibbles = (nibbles: Code): Code => [nibbles, i32Const(15), i8x16.splat, and];
const highNibbles = (nibbles: Code): Code => lowNibbles([nibbles, i32Const(4), i16x8.shiftRight]);

/**
 * `sum(codes, tables, blocks, parts, sums)`: for each vector of each block of 32, the sum of what the tables say about its
 * nibbles. A group of four dimensions has 16 bytes of a block: byte n holds the nibbles of the vectors n (low) and n + 16.
 * Its table has 16 bytes, one for each nibble; those of two neighbours add up to at most 255. A part has eight groups. Sums
 * have 16 bits, in the order even and odd vectors of the first 16, then of the others.
 */
function sumFunction(): Code {
  const [codes, tables, blocks, parts, sums] = [0, 1, 2, 3, 4];
  const [table, left, first, second, bytes] = [5, 6, 7, 8, 9];
  const accumulators = [10, 11, 12, 13];
  const [evenLow, oddLow, evenHigh, oddHigh] = accumulators as [number, number, number, number];
  const lookUp = (nibbles: (code: Code) => Code, at: number): Code => [
    ...[get(table), load(at), nibbles(get(first)), swizzle],
    ...[get(table), load(at + 16), nibbles(get(second)), swizzle, i8x16.add, set(bytes)],
  ];
  /** The even sums get 256 times the odd ones, too, which `output` subtracts. */
  const accumulate = (even: number, odd: number): Code => [
    ...[get(even), get(bytes), i16x8.add, set(even)],
    ...[get(odd), get(bytes), i32Const(8), i16x8.shiftRight, i16x8.add, set(odd)],
  ];
  const output = (even: number, odd: number, at: number): Code => [
    ...[get(sums), get(even), get(odd), i32Const(8), i16x8.shiftLeft, i16x8.sub, store(at)],
    ...[get(sums), get(odd), store(at + 16)],
  ];
  const pair = (at: number): Code => [
    ...[get(codes), load(at), set(first), get(codes), load(at + 16), set(second)],
    ...[lookUp(lowNibbles, at), accumulate(evenLow, oddLow)],
    ...[lookUp(highNibbles, at), accumulate(evenHigh, oddHigh)],
  ];
  const part: Code = [[0, 32, 64, 96].map(pair), advance(codes, 128), advance(table, 128)];
  const block: Code = [
    ...accumulators.map((local): Code => [i32Const(0), i8x16.splat, set(local)]),
    ...[get(tables), set(table), get(parts), set(left), repeat(left, part)],
    ...[output(evenLow, oddLow, 0), output(evenHigh, oddHigh, 32), advance(sums, 64)],
  ];
  return body(
    [
      [2, i32],
      [7, v128],
    ],
    repeat(blocks, block),
  );
}

const interleaveLow = shuffle([0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23]);
const interleaveHigh = shuffle([8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31]);

/**
 * `estimate(sums, sixteens, bases, scales, spreads, outputs, estimateMaxima, boundMaxima, shift, step, offset, error,
 * stepError)`: for each vector, estimate = base + shift + scale · (step · sum + offset) and
 * bound = estimate + spread · error + scale · stepError. The outputs of 16 vectors are their estimates, then their bounds.
 * The greatest of each are written, too.
 */
function estimateFunction(): Code {
  const [sums, sixteens, bases, scales, spreads, outputs, estimateMaxima, boundMaxima] = [0, 1, 2, 3, 4, 5, 6, 7];
  const [shift, step, offset, error, stepError] = [8, 9, 10, 11, 12];
  const [ordered, scale, estimate, bound, bestEstimate, bestBound] = [13, 14, 15, 16, 17, 18];
  const four = (sum: Code, at: number): Code => [
    ...[get(scales), load(at), set(scale)],
    ...[get(bases), load(at), get(shift), f32x4.splat, f32x4.add, get(scale), sum, f32x4.fromWhole],
    ...[get(step), f32x4.splat, f32x4.mul, get(offset), f32x4.splat, f32x4.add, f32x4.mul, f32x4.add, set(estimate)],
    ...[get(estimate), get(spreads), load(at), get(error), f32x4.splat, f32x4.mul, f32x4.add],
    ...[get(scale), get(stepError), f32x4.splat, f32x4.mul, f32x4.add, set(bound)],
    ...[get(outputs), get(estimate), store(at), get(outputs), get(bound), store(at + 64)],
    ...(at === 0
      ? [get(estimate), set(bestEstimate), get(bound), set(bestBound)]
      : [
          ...[get(bestEstimate), get(estimate), f32x4.max, set(bestEstimate)],
          ...[get(bestBound), get(bound), f32x4.max, set(bestBound)],
        ]),
  ];
  const eight = (interleave: Code, at: number): Code => [
    ...[get(sums), load(0), get(sums), load(16), interleave, set(ordered)],
    ...[four([get(ordered), i32x4.extendLow], at), four([get(ordered), i32x4.extendHigh], at + 16)],
  ];
  const storeMaximum = (maxima: number, best: number): Code => [
    ...[
      get(maxima),
      [0, 1, 2, 3].map((place): Code => [get(best), f32x4.component(place)]),
      f32Max,
      f32Max,
      f32Max,
      f32Store,
    ],
    advance(maxima, 4),
  ];
  const sixteen: Code = [
    ...[eight(interleaveLow, 0), eight(interleaveHigh, 32)],
    ...[storeMaximum(estimateMaxima, bestEstimate), storeMaximum(boundMaxima, bestBound)],
    ...[advance(sums, 32), advance(outputs, 128), [bases, scales, spreads].map((local) => advance(local, 64))],
  ];
  return body([[6, v128]], repeat(sixteens, sixteen));
}

/**
 * `dot(nibbles, query, parts)`: the sum of nibble · query. A part has 32 dimensions: 16 bytes with the first 16 dimensions
 * in their low nibbles and the others in the high ones, and 32 numbers of 16 bits of the query.
 */
function dotFunction(): Code {
  const [nibbles, query, parts] = [0, 1, 2];
  const [sum, bytes] = [3, 4];
  const multiply = (numbers: Code, extend: Code, at: number): Code => [
    ...[get(sum), numbers, extend, get(query), load(at), i32x4.dot, i32x4.add, set(sum)],
  ];
  const part: Code = [
    ...[get(nibbles), load(), set(bytes)],
    ...[multiply(lowNibbles(get(bytes)), i16x8.extendLow, 0), multiply(lowNibbles(get(bytes)), i16x8.extendHigh, 16)],
    ...[
      multiply(highNibbles(get(bytes)), i16x8.extendLow, 32),
      multiply(highNibbles(get(bytes)), i16x8.extendHigh, 48),
    ],
    ...[advance(nibbles, 16), advance(query, 64)],
  ];
  const total = [0, 1, 2, 3].map((place): Code => [get(sum), i32x4.component(place)]);
  return body([[2, v128]], [repeat(parts, part), ...total, i32Add, i32Add, i32Add]);
}

/** A function: its size, its locals by type, its instructions. */
function body(locals: ReadonlyArray<readonly [number, number]>, code: Code): Code {
  const bytes = flatten([vector(locals.map(([count, type]) => [unsigned(count), type])), code, 0x0b]);
  return [unsigned(bytes.length), bytes];
}

/** Returns the bytes of the module. It imports its memory as `host.memory`. */
export function buildKernelModule(): Uint8Array<ArrayBuffer> {
  const types = [
    [Array<number>(5).fill(i32), []],
    [[...Array<number>(8).fill(i32), ...Array<number>(5).fill(f32)], []],
    [Array<number>(3).fill(i32), [i32]],
  ] as const;
  const exported = ['sum', 'estimate', 'dot'];
  return Uint8Array.from(
    flatten([
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      section(
        1,
        types.map(([parameters, results]) => [0x60, vector([...parameters]), vector([...results])]),
      ),
      section(2, [[text('host'), text('memory'), 0x02, 0x00, unsigned(1)]]),
      section(
        3,
        exported.map((_, place) => unsigned(place)),
      ),
      section(
        7,
        exported.map((name, place) => [text(name), 0x00, unsigned(place)]),
      ),
      section(10, [sumFunction(), estimateFunction(), dotFunction()]),
    ]),
  );
}

function section(id: number, items: readonly Code[]): Code {
  const bytes = flatten(vector(items));
  return [id, unsigned(bytes.length), bytes];
}

function vector(items: Code): Code {
  return [unsigned(items.length), ...items];
}

function text(characters: string): Code {
  return vector([...Buffer.from(characters)]);
}

function flatten(code: Code): number[] {
  return code.flat(Number.POSITIVE_INFINITY as 1) as number[];
}

/** LEB128. */
function unsigned(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, unsigned(value >>> 7)];
}

function signed(value: number): Code {
  if (value >= -64 && value < 64) return [value & 127];
  return [(value & 127) | 128, signed(value >> 7)];
}
