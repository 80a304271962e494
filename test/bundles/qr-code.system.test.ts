import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import jsqr from 'jsqr';
import { run } from '../../bundles/qr_code_generator/generate-qr-code.ts';
import { type Pixels, readPng } from '../support/png.ts';
import { context, Rejected } from './handler-context.ts';

// Independent programs read the results: pngjs reads the picture, jsQR the code.
type Level = 'L' | 'M' | 'Q' | 'H';
const levels: readonly Level[] = ['L', 'M', 'Q', 'H'];

interface QrCode {
  readonly url: string;
  readonly svg: string;
  readonly version: number;
  readonly mode: string;
  readonly size: number;
}

async function generate(text: string, options: { error_correction?: Level; scale?: number; margin?: number } = {}) {
  const input = { error_correction: 'M' as Level, scale: 3, margin: 4, ...options, text };
  return (await run(input, context)) as QrCode; // the output of the handler; another test checks its schema
}

function pictureOf({ url }: QrCode): Pixels {
  const [head, base64 = ''] = url.split(',');
  assert.equal(head, 'data:image/png;base64');
  return readPng(Buffer.from(base64, 'base64'));
}

function read(qrCode: QrCode): { text: string; version: number } {
  const { data, width, height } = pictureOf(qrCode);
  const code = jsqr.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: 'dontInvert' });
  assert.ok(code !== null, `version ${qrCode.version}: no code found`);
  return { text: code.data, version: code.version };
}

async function assertReadable(text: string, options: Parameters<typeof generate>[1]): Promise<QrCode> {
  const qrCode = await generate(text, options);
  assert.deepEqual(read(qrCode), { text, version: qrCode.version });
  return qrCode;
}

const texts = [
  { text: '0', mode: 'numeric' },
  { text: '12', mode: 'numeric' },
  { text: '8675309', mode: 'numeric' },
  { text: 'HELLO WORLD', mode: 'alphanumeric' },
  { text: 'A', mode: 'alphanumeric' },
  { text: 'AC-42 $%*+./:', mode: 'alphanumeric' },
  { text: 'a', mode: 'byte' },
  { text: 'https://example.com/?q=1&r=%20', mode: 'byte' },
  { text: 'Grüße, 你好, שלום, ✓ 🙂', mode: 'byte' },
  { text: 'line one\nline two\ttab', mode: 'byte' },
  { text: '١٢٣', mode: 'byte' },
];

for (const { text, mode } of texts) {
  test(`${JSON.stringify(text)} can be read back at every level, in ${mode} mode`, async () => {
    for (const error_correction of levels) {
      assert.equal((await assertReadable(text, { error_correction })).mode, mode);
    }
  });
}

/** Maximum number of characters of each mode in versions 1 and 40, from table 7 of the standard. */
const capacities: ReadonlyArray<readonly [character: string, level: Level, first: number, last: number]> = [
  ['1', 'L', 41, 7089],
  ['1', 'M', 34, 5596],
  ['1', 'Q', 27, 3993],
  ['1', 'H', 17, 3057],
  ['A', 'L', 25, 4296],
  ['A', 'M', 20, 3391],
  ['A', 'Q', 16, 2420],
  ['A', 'H', 10, 1852],
  ['a', 'L', 17, 2953],
  ['a', 'M', 14, 2331],
  ['a', 'Q', 11, 1663],
  ['a', 'H', 7, 1273],
];

for (const [character, error_correction, first, last] of capacities) {
  test(`holds exactly as many "${character}" at level ${error_correction} as the standard allows`, async () => {
    const versionOf = async (length: number) =>
      (await assertReadable(character.repeat(length), { error_correction, scale: 2 })).version;
    assert.equal(await versionOf(first), 1);
    assert.equal(await versionOf(first + 1), 2);
    assert.equal(await versionOf(last), 40);
    await assert.rejects(generate(character.repeat(last + 1), { error_correction }), Rejected);
  });
}

/** Number of bytes that fit into versions 1 to 40, from table 7 of the standard. */
const byteCapacities: Record<Level, readonly number[]> = {
  L: [
    ...[17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425, 458, 520, 586, 644, 718, 792, 858],
    ...[929, 1003, 1091, 1171, 1273, 1367, 1465, 1528, 1628, 1732, 1840, 1952, 2068, 2188, 2303, 2431, 2563, 2699],
    ...[2809, 2953],
  ],
  M: [
    ...[14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666],
    ...[711, 779, 857, 911, 997, 1059, 1125, 1190, 1264, 1370, 1452, 1538, 1628, 1722, 1809, 1911, 1989, 2099],
    ...[2213, 2331],
  ],
  Q: [
    ...[11, 20, 32, 46, 60, 74, 86, 108, 130, 151, 177, 203, 241, 258, 292, 322, 364, 394, 442, 482],
    ...[509, 565, 611, 661, 715, 751, 805, 868, 908, 982, 1030, 1112, 1168, 1228, 1283, 1351, 1423, 1499, 1579, 1663],
  ],
  H: [
    ...[7, 14, 24, 34, 44, 58, 64, 84, 98, 119, 137, 155, 177, 194, 220, 250, 280, 310, 338, 382],
    ...[403, 439, 461, 511, 535, 593, 625, 658, 698, 742, 790, 842, 898, 958, 983, 1051, 1093, 1139, 1219, 1273],
  ],
};

for (const error_correction of levels) {
  test(`every version from 1 to 40, full to the last byte, can be read back at level ${error_correction}`, async () => {
    for (const [index, capacity] of byteCapacities[error_correction].entries()) {
      const text = Array.from({ length: capacity }, (_, at) => String.fromCharCode(97 + ((at * at) % 26))).join('');
      const qrCode = await generate(text, { error_correction, scale: 2 });
      assert.equal(qrCode.version, index + 1);
      // jsQR 1.4.0 searches a row of version 23's alignment patterns at 74, where the standard has 78. Level L cannot
      // repair the resulting errors; the other levels can.
      if (qrCode.version !== 23 || error_correction !== 'L')
        assert.deepEqual(read(qrCode), { text, version: qrCode.version });
    }
    assert.equal(byteCapacities[error_correction].length, 40);
  });
}

test('random texts can be read back', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 120 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
    fc.stringMatching(/^\d{1,200}$/),
  );
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom(...levels), async (value, error_correction) => {
      await assertReadable(value, { error_correction });
    }),
    { numRuns: 60 },
  );
});

test('a damaged code of the highest level can still be read', async () => {
  const qrCode = await generate('https://example.com/', { error_correction: 'H', scale: 4 });
  const { data, width, height } = pictureOf(qrCode);
  const damaged = new Uint8ClampedArray(data);
  // A white square of 5 × 5 modules covers the centre.
  const [from, to] = [Math.floor(width / 2) - 10, Math.floor(width / 2) + 10];
  for (let y = from; y < to; y += 1) damaged.fill(255, (y * width + from) * 4, (y * width + to) * 4);
  assert.equal(jsqr.default(damaged, width, height)?.data, 'https://example.com/');
});

test('scale and margin give the size of the picture, the margin is white', async () => {
  const qrCode = await generate('size', { scale: 7, margin: 3 });
  const picture = pictureOf(qrCode);
  assert.equal(qrCode.size, (17 + 4 * qrCode.version + 2 * 3) * 7);
  assert.deepEqual([picture.width, picture.height], [qrCode.size, qrCode.size]);
  assert.ok(picture.data.subarray(0, qrCode.size * 4 * 3 * 7).every((value) => value === 255));
  assert.equal(picture.data[(3 * 7 * qrCode.size + 3 * 7) * 4], 0);
  const bare = await generate('size', { scale: 1, margin: 0 });
  assert.equal(pictureOf(bare).width, 17 + 4 * bare.version);
});

test('the SVG shows the same modules as the PNG', async () => {
  const qrCode = await generate('the same', { scale: 1, margin: 2 });
  const { data, width } = pictureOf(qrCode);
  const dark = new Set<string>();
  for (const [, x = 0, y = 0, length = 0] of qrCode.svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let step = 0; step < Number(length); step += 1) dark.add(`${Number(x) + step} ${y}`);
  }
  for (let at = 0; at < width * width; at += 1) {
    assert.equal(data[at * 4] === 0, dark.has(`${at % width} ${Math.floor(at / width)}`));
  }
  assert.match(qrCode.svg, new RegExp(`^<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${width}"`));
});
