import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKernel, createKernelMemory } from './kernel.ts';
import { createNumbers } from './testing/random-vectors.fixture.ts';

/* Each function is compared with plain JavaScript that follows its description in `kernel-module.ts`. */

const memory = createKernelMemory();
memory.grow(2);
const kernel = createKernel(memory);
const bytes = new Uint8Array(memory.buffer);
const next = createNumbers(5);
const fill = (from: number, length: number, most: number) => {
  for (let i = from; i < from + length; i++) bytes[i] = Math.floor(next() * (most + 1));
};

test('sums are those of the nibbles of each vector, also when they reach 65,535', () => {
  for (const [parts, most] of [
    [1, 127],
    [12, 127],
    [64, 127],
    [96, 85],
    [256, 31],
  ] as const) {
    const blocks = parts > 96 ? 1 : 2;
    const [codes, tables, sums] = [64, 64 + blocks * parts * 128, 64 + (blocks + 1) * parts * 128];
    fill(codes, blocks * parts * 128, 255);
    fill(tables, parts * 128, most);
    // The greatest sums: each nibble of a vector is 15, and so are its values.
    for (let group = 0; group < parts * 8; group++) {
      bytes[codes + group * 16] = 255;
      bytes[tables + group * 16 + 15] = most;
    }
    kernel.sum(codes, tables, blocks, parts, sums);
    for (let block = 0; block < blocks; block++) {
      for (let n = 0; n < 32; n++) {
        let expected = 0;
        for (let group = 0; group < parts * 8; group++) {
          const byte = bytes[codes + (block * parts * 8 + group) * 16 + (n % 16)] as number;
          expected += bytes[tables + group * 16 + (n < 16 ? byte & 15 : byte >> 4)] as number;
        }
        const half = sums + block * 64 + (n < 16 ? 0 : 32) + (n % 2) * 16;
        const sum = new Uint16Array(memory.buffer, half, 8)[(n % 16) >> 1];
        assert.equal(sum, expected, `parts ${parts}, block ${block}, vector ${n}`);
      }
    }
  }
});

test('estimates, bounds and the greatest of each follow from sums, bases, scales and spreads', () => {
  const [sums, bases, scales, spreads, outputs, maxima] = [64, 1024, 2048, 3072, 4096, 8192];
  const count = 64;
  const words = new Uint16Array(memory.buffer, sums, count);
  for (let i = 0; i < count; i++) words[i] = Math.floor(next() * 65_536);
  const [base, scale, spread] = [bases, scales, spreads].map((at) => new Float32Array(memory.buffer, at, count)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  for (let i = 0; i < count; i++) [base[i], scale[i], spread[i]] = [next() - 0.5, next(), next() / 10];
  const [shift, step, offset, error, stepError] = [0.25, 2 ** -10, -3, 1.5, 0.125];
  kernel.estimate(
    ...([sums, count / 16, bases, scales, spreads, outputs, maxima, maxima + 64] as const),
    ...([shift, step, offset, error, stepError] as const),
  );
  const found = new Float32Array(memory.buffer, outputs, 2 * count);
  const greatest = new Float32Array(memory.buffer, maxima, 32);
  for (let group = 0; group < count / 16; group++) {
    const estimates: number[] = [];
    const bounds: number[] = [];
    for (let n = 0; n < 16; n++) {
      const at = group * 16 + n;
      const sum = words[group * 16 + (n % 2) * 8 + (n >> 1)] as number;
      const estimate = (base[at] as number) + shift + (scale[at] as number) * (step * sum + offset);
      const bound = estimate + (spread[at] as number) * error + (scale[at] as number) * stepError;
      estimates.push(found[group * 32 + n] as number);
      bounds.push(found[group * 32 + 16 + n] as number);
      assert.ok(Math.abs((estimates[n] as number) - estimate) < 1e-4 && Math.abs((bounds[n] as number) - bound) < 1e-4);
    }
    assert.deepEqual([greatest[group], greatest[16 + group]], [Math.max(...estimates), Math.max(...bounds)]);
  }
});

test('a product with nibbles is exact, up to 8,192 dimensions of the greatest numbers', () => {
  for (const [parts, isGreatest] of [
    [1, false],
    [48, false],
    [256, false],
    [256, true],
  ] as const) {
    const [nibbles, query] = [64, 64 + parts * 16];
    fill(nibbles, parts * 16, 255);
    if (isGreatest) bytes.fill(255, nibbles, nibbles + parts * 16);
    const numbers = new Int16Array(memory.buffer, query, parts * 32);
    for (let i = 0; i < numbers.length; i++) numbers[i] = isGreatest ? 8191 : Math.round((next() - 0.5) * 16_382);
    let expected = 0;
    for (let i = 0; i < parts * 32; i++) {
      const byte = bytes[nibbles + (i >> 5) * 16 + (i & 15)] as number;
      expected += ((i & 16) === 0 ? byte & 15 : byte >> 4) * (numbers[i] as number);
    }
    assert.equal(kernel.dot(nibbles, query, parts), expected);
  }
});
