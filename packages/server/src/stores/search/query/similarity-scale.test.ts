import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashText } from '../embedding/testing/hash-text.fixture.ts';
import { similarity } from '../embedding/vectors.ts';
import { measureScale, probeOf, shareOf } from './similarity-scale.ts';

const texts = [
  'The library opens at nine in the morning and closes at six in the evening on working days.',
  'A fox is a small animal with a red coat that lives in the forest and hunts mice at night.',
  'Green tea from Uji is picked in spring, steamed, rolled and dried before it is sold to the shops.',
  'The bridge over the river was built of stone by monks and carried the salt road for four centuries.',
];
const embedProbes = async (probes: readonly string[]) => probes.map((probe) => hashText(probe, 256));

test('the scale is the mean and the median of the similarities of the probes, computed directly', async () => {
  const sample = texts.map((text) => ({ text, vector: hashText(text, 256) }));
  const measured = await measureScale(sample, embedProbes);
  const probes = texts.map((text) => hashText(probeOf(text), 256));
  const own = probes.map((probe, at) => similarity(probe, hashText(texts[at] ?? '', 256))).sort((a, b) => a - b);
  const others = probes.flatMap((probe, at) =>
    texts.flatMap((text, other) => (other === at ? [] : [similarity(probe, hashText(text, 256))])),
  );
  const mean = others.reduce((sum, value) => sum + value, 0) / others.length;
  assert.ok(Math.abs((measured?.unrelated ?? 0) - mean) < 1e-9);
  assert.deepEqual([measured?.related, measured?.weight, measured?.share], [own[2], 1, 1]);
});

test('a model that confuses the chunks counts less, and refused texts lower the share', async () => {
  const sample = [...texts.map((text) => ({ text, vector: hashText(text, 256) })), { text: 'refused', vector: null }];
  const confused = await measureScale(sample, async (probes) =>
    probes.map(() => hashText(probeOf(texts[0] ?? ''), 256)),
  );
  assert.deepEqual([confused?.weight, confused?.share], [1 / 16, 0.8]);
  assert.equal(await measureScale([{ text: 'refused', vector: null }], embedProbes), null);
});

test('a common part of all vectors does not change the shares', async () => {
  const base = await measureScale(
    texts.map((text) => ({ text, vector: hashText(text, 256) })),
    embedProbes,
  );
  /** Adds a dimension in which all vectors agree, so that each similarity s becomes 0.75 + 0.25 s. */
  const shift = (vector: Float32Array) => Float32Array.from([...vector.map((value) => value / 2), Math.sqrt(0.75)]);
  const shifted = await measureScale(
    texts.map((text) => ({ text, vector: shift(hashText(text, 256)) })),
    async (probes) => probes.map((probe) => shift(hashText(probe, 256))),
  );
  assert.ok(base !== null && shifted !== null && shifted.unrelated > 0.7);
  for (const value of [-0.1, 0.1, 0.3, 0.6, 1]) {
    assert.ok(Math.abs(shareOf(base, value) - shareOf(shifted, 0.75 + 0.25 * value)) < 1e-6);
  }
});

test('a probe is twelve words from the middle of a text, in any script', () => {
  assert.equal(probeOf(texts[0] ?? ''), 'at nine in the morning and closes at six in the evening');
  assert.equal(probeOf('Two words.'), 'Two words');
  assert.equal(probeOf('🦊'), '🦊');
  assert.ok(probeOf('图书馆早上九点开门晚上六点关门周末全天关闭节假日另行通知请留意公告'.repeat(20)).length < 40);
  assert.ok(probeOf('word '.repeat(100_000)).length < 70);
});
