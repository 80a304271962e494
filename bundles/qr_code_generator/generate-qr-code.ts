import type { Handler } from '@quartermaster/plugin-kit';

/** QR Code, versions 1 to 40, as ISO/IEC 18004 has it; the numbers below are the tables of the standard. */
type Input = { text: string; error_correction: Level; scale: number; margin: number };
type Level = 'L' | 'M' | 'Q' | 'H';

/** Error correction bytes of a block, by version from 1; the last number holds for all further versions. */
const checkBytes: Record<Level, string> = {
  L: '7 10 15 20 26 18 20 24 30 18 20 24 26 30 22 24 28 30 28 28 28 28 30 30 26 28 30',
  M: '10 16 26 18 24 16 18 22 22 26 30 22 22 24 24 28 28 26 26 26 26 28',
  Q: '13 22 18 26 18 24 18 22 20 24 28 26 24 20 30 24 28 28 26 30 28 30 30 30 30 28 30',
  H: '17 28 22 16 22 28 26 26 24 28 24 28 22 24 24 30 28 28 26 28 30 24 30',
};
const blockCounts: Record<Level, string> = {
  L: '1 1 1 1 1 2 2 2 2 4 4 4 4 4 6 6 6 6 7 8 8 9 9 10 12 12 12 13 14 15 16 17 18 19 19 20 21 22 24 25',
  M: '1 1 1 2 2 4 4 4 5 5 5 8 9 9 10 10 11 13 14 16 17 17 18 20 21 23 25 26 28 29 31 33 35 37 38 40 43 45 47 49',
  Q: '1 1 2 2 4 4 6 6 8 8 8 10 12 16 12 17 16 18 21 20 23 23 25 27 29 34 34 35 38 40 43 45 48 51 53 56 59 62 65 68',
  H: '1 1 2 4 4 4 5 6 8 8 11 11 16 16 18 16 19 21 25 25 25 34 30 32 35 37 40 42 45 48 51 54 57 60 63 66 70 74 77 81',
};
const levelBits: Record<Level, number> = { L: 1, M: 0, Q: 3, H: 2 };
const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
const masks: ReadonlyArray<(x: number, y: number) => boolean> = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

export const run: Handler<Input> = async ({ text, error_correction: level, scale, margin }, context) => {
  const mode = modeOf(text);
  const version = range(1, 41).find(
    (candidate) => encode(mode, candidate).length <= 8 * layoutOf(candidate, level).data,
  );
  if (version === undefined) {
    return context.reject(`The text is too long for a QR code with error correction ${level} (${mode.name} mode).`);
  }
  const layout = layoutOf(version, level);
  const grid = draw(addCheckBytes(pack(encode(mode, version), layout.data), layout), version, level);
  const [border, blank] = ['0'.repeat(margin), '0'.repeat(grid.size)];
  const blanks = Array<string>(margin).fill(blank);
  const rows = [...blanks, ...rowsOf(grid), ...blanks].map((row) => `${border}${row}${border}`);
  const url = `data:image/png;base64,${(await toPng(rows, scale)).toString('base64')}`;
  return { url, svg: toSvg(rows), version, mode: mode.name, size: rows.length * scale };
};

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
const binary = (value: number, width: number): string => value.toString(2).padStart(width, '0');
const bytesOf = (bits: string): number[] =>
  (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2));

/** The one mode that is shortest for the whole text; the widths of its length field are for versions from 1, 10, 27. */
function modeOf(text: string) {
  if (/^\d+$/.test(text)) {
    const groups = text.match(/\d{1,3}/g) ?? [];
    const bits = groups.map((group) => binary(Number(group), group.length * 3 + 1)).join('');
    return { name: 'numeric', indicator: 1, widths: [10, 12, 14], length: text.length, bits };
  }
  if ([...text].every((character) => alphanumerics.includes(character))) {
    const value = (character: string) => alphanumerics.indexOf(character);
    const pair = ([a = '', b]: string) =>
      b === undefined ? binary(value(a), 6) : binary(value(a) * 45 + value(b), 11);
    const bits = (text.match(/..?/g) ?? []).map(pair).join('');
    return { name: 'alphanumeric', indicator: 2, widths: [9, 11, 13], length: text.length, bits };
  }
  const bytes = new TextEncoder().encode(text);
  const bits = Array.from(bytes, (byte) => binary(byte, 8)).join('');
  return { name: 'byte', indicator: 4, widths: [8, 16, 16], length: bytes.length, bits };
}

function encode({ indicator, widths, length, bits }: ReturnType<typeof modeOf>, version: number): string {
  const width = widths[version < 10 ? 0 : version < 27 ? 1 : 2] ?? 0;
  return binary(indicator, 4) + binary(length, width) + bits;
}

function pack(bits: string, capacity: number): number[] {
  const bytes = bytesOf(`${bits}0000`.slice(0, 8 * capacity));
  return [...bytes, ...range(0, capacity - bytes.length).map((index) => (index % 2 === 0 ? 0xec : 0x11))];
}

const alignmentLines = (version: number): number => (version === 1 ? 0 : Math.floor(version / 7) + 2);

/** `total` bytes are the symbol's modules without the fixed patterns. */
function layoutOf(version: number, level: Level) {
  const lines = alignmentLines(version);
  const alignment = lines === 0 ? 0 : (25 * lines - 10) * lines - 55;
  const total = Math.floor(((16 * version + 128) * version + 64 - alignment - (version < 7 ? 0 : 36)) / 8);
  const numberOf = (table: string) => Number(table.split(' ')[version - 1] ?? table.split(' ').at(-1));
  const [count, checkLength] = [numberOf(blockCounts[level]), numberOf(checkBytes[level])];
  return { total, data: total - count * checkLength, count, checkLength };
}

/** Splits the data into blocks, gives each its Reed-Solomon bytes and interleaves them. */
function addCheckBytes(data: number[], { total, count, checkLength }: ReturnType<typeof layoutOf>): number[] {
  const shortLength = Math.floor(total / count) - checkLength;
  const firstLong = count - (total % count);
  const divisor = generatorOf(checkLength);
  let taken = 0;
  const blocks = range(0, count).map((index) => {
    const block = data.slice(taken, taken + shortLength + (index < firstLong ? 0 : 1));
    taken += block.length;
    return { block, check: remainderOf(block, divisor) };
  });
  return [
    ...range(0, shortLength + 1).flatMap((index) => blocks.flatMap(({ block }) => block[index] ?? [])),
    ...range(0, checkLength).flatMap((index) => blocks.map(({ check }) => check[index] ?? 0)),
  ];
}

/** Product in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> bit) & 1) * a;
  }
  return product;
}

/** The generator polynomial of that degree, without its leading 1. */
function generatorOf(degree: number): number[] {
  let polynomial = [...range(1, degree).map(() => 0), 1];
  let root = 1;
  for (let step = 0; step < degree; step += 1) {
    polynomial = polynomial.map((value, index) => multiply(value, root) ^ (polynomial[index + 1] ?? 0));
    root = multiply(root, 2);
  }
  return polynomial;
}

function remainderOf(data: readonly number[], divisor: readonly number[]): number[] {
  let remainder = divisor.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ (remainder[0] ?? 0);
    remainder = divisor.map((value, index) => (remainder[index + 1] ?? 0) ^ multiply(value, factor));
  }
  return remainder;
}

/** Row by row: `dark` is 1 for a dark module, `fixed` 1 where a fixed pattern stands. */
interface Grid {
  readonly size: number;
  readonly dark: Uint8Array;
  readonly fixed: Uint8Array;
}

function draw(bytes: readonly number[], version: number, level: Level): Grid {
  const size = 17 + 4 * version;
  const grid = { size, dark: new Uint8Array(size ** 2), fixed: new Uint8Array(size ** 2) };
  drawFixedPatterns(grid, version);
  drawFormat(grid, level, 0);
  drawBytes(grid, bytes);
  const candidates = masks.map((isInverted, mask) => {
    const dark = grid.dark.map((value, at) =>
      grid.fixed[at] === 0 && isInverted(at % size, Math.floor(at / size)) ? 1 - value : value,
    );
    const masked = { ...grid, dark };
    drawFormat(masked, level, mask);
    return { masked, penalty: penaltyOf(masked) };
  });
  return candidates.reduce((best, next) => (next.penalty < best.penalty ? next : best)).masked;
}

function fix({ size, dark, fixed }: Grid, [x, y]: readonly [number, number], isDark: boolean): void {
  if (x < 0 || y < 0 || x >= size || y >= size) return;
  dark[y * size + x] = isDark ? 1 : 0;
  fixed[y * size + x] = 1;
}

/** Concentric squares: a finder pattern with its white border (radius 4) or an alignment pattern (radius 2). */
function drawSquares(grid: Grid, [x, y]: readonly [number, number], radius: number): void {
  for (const dx of range(-radius, radius + 1)) {
    for (const dy of range(-radius, radius + 1)) {
      const ring = Math.max(Math.abs(dx), Math.abs(dy));
      fix(grid, [x + dx, y + dy], radius === 2 ? ring !== 1 : ring !== 2 && ring !== 4);
    }
  }
}

function drawFixedPatterns(grid: Grid, version: number): void {
  const { size } = grid;
  for (const at of range(0, size)) {
    fix(grid, [6, at], at % 2 === 0);
    fix(grid, [at, 6], at % 2 === 0);
  }
  drawSquares(grid, [3, 3], 4);
  drawSquares(grid, [size - 4, 3], 4);
  drawSquares(grid, [3, size - 4], 4);
  const lines = alignmentLines(version);
  const step = Math.floor((version * 8 + lines * 3 + 5) / (lines * 4 - 4)) * 2;
  const centres = range(0, lines).map((index) => (index === 0 ? 6 : size - 7 - (lines - 1 - index) * step));
  for (const x of centres) {
    for (const y of centres) {
      const isFinder = (x === 6 && (y === 6 || y === size - 7)) || (x === size - 7 && y === 6);
      if (!isFinder) drawSquares(grid, [x, y], 2);
    }
  }
  if (version < 7) return;
  const bits = (version << 12) | polynomialRemainder(version, 12, 0x1f25);
  for (const index of range(0, 18)) {
    const [far, near] = [size - 11 + (index % 3), Math.floor(index / 3)];
    fix(grid, [far, near], ((bits >>> index) & 1) === 1);
    fix(grid, [near, far], ((bits >>> index) & 1) === 1);
  }
}

const polynomialRemainder = (value: number, degree: number, divisor: number): number =>
  range(0, degree).reduce((rest) => (rest << 1) ^ ((rest >>> (degree - 1)) * divisor), value);

/** Level and mask, twice: around the upper left finder pattern and split between the other two. */
function drawFormat(grid: Grid, level: Level, mask: number): void {
  const { size } = grid;
  const value = (levelBits[level] << 3) | mask;
  const bits = ((value << 10) | polynomialRemainder(value, 10, 0x537)) ^ 0x5412;
  for (const index of range(0, 15)) {
    const isDark = ((bits >>> index) & 1) === 1;
    const near = [0, 1, 2, 3, 4, 5, 7, 8][Math.min(index, 14 - index)] ?? 0;
    fix(grid, index < 8 ? [8, near] : [near, 8], isDark);
    fix(grid, index < 8 ? [size - 1 - index, 8] : [8, size - 15 + index], isDark);
  }
  fix(grid, [8, size - 8], true);
}

/** Places bits in columns of two modules from the lower right, alternately up and down, skipping the timing column. */
function drawBytes({ size, dark, fixed }: Grid, bytes: readonly number[]): void {
  let bit = 0;
  for (const pair of range(0, (size - 1) / 2)) {
    const right = size - 1 - 2 * pair - (size - 1 - 2 * pair <= 6 ? 1 : 0);
    for (const step of range(0, 2 * size)) {
      const row = Math.floor(step / 2);
      const at = (pair % 2 === 0 ? size - 1 - row : row) * size + right - (step % 2);
      if (fixed[at] === 1) continue;
      dark[at] = ((bytes[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1;
      bit += 1;
    }
  }
}

/** Returns the penalty of the symbol: for long runs, blocks of one colour, patterns like the finder, and imbalance. */
function penaltyOf(grid: Grid): number {
  const { size, dark } = grid;
  const rows = rowsOf(grid);
  const columns = rows.map((_, x) => rows.map((row) => row[x]).join(''));
  let penalty = 0;
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
    penalty += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (let at = 0; at < size * (size - 1); at += 1) {
    const sum = (dark[at] ?? 0) + (dark[at + 1] ?? 0) + (dark[at + size] ?? 0) + (dark[at + size + 1] ?? 0);
    if (at % size !== size - 1 && (sum === 0 || sum === 4)) penalty += 3;
  }
  const share = dark.reduce((sum, value) => sum + value, 0) / size ** 2;
  return penalty + 10 * Math.floor(Math.abs(share - 0.5) * 20);
}

/** Each row as text. A dark module is 1. */
const rowsOf = ({ size, dark }: Grid): string[] =>
  range(0, size).map((y) => dark.subarray(y * size, (y + 1) * size).join(''));

function toSvg(rows: readonly string[]): string {
  const side = rows.length;
  const runs = rows.flatMap((row, y) =>
    [...row.matchAll(/1+/g)].map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`),
  );
  const paths = `<path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${runs.join('')}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges">${paths}</svg>`;
}

/** One bit a pixel, 1 is white; each line begins with the number of its filter, 0 for none. */
async function toPng(rows: readonly string[], scale: number): Promise<Buffer> {
  const lines = rows.flatMap((row) => {
    const pixels = row.replace(/./g, (module) => (module === '1' ? '0' : '1').repeat(scale));
    return Array<Uint8Array<ArrayBuffer>>(scale).fill(Uint8Array.from([0, ...bytesOf(pixels)]));
  });
  const header = Buffer.concat([uint32(lines.length), uint32(lines.length), Buffer.from([1, 0, 0, 0, 0])]);
  const stream = new Blob(lines).stream().pipeThrough(new CompressionStream('deflate'));
  const compressed = Buffer.from(await new Response(stream).arrayBuffer());
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', compressed), chunk('IEND', Buffer.alloc(0))]);
}

const uint32 = (value: number): Buffer => Buffer.from(bytesOf(binary(value, 32)));

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

function crc32(bytes: Uint8Array): number {
  let register = ~0;
  for (const byte of bytes) {
    register ^= byte;
    for (let bit = 0; bit < 8; bit += 1) register = (register >>> 1) ^ (register & 1 ? 0xedb88320 : 0);
  }
  return ~register >>> 0;
}
