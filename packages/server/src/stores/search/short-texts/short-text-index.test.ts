import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShortTextIndex, type ShortText, slice } from './short-text-index.ts';

const textOf = (item: string, text: string): ShortText<string> => ({ item, fields: [{ text, weight: 1 }] });

/** Builds an index and returns the numbers of texts that were read between two turns of the event loop. */
async function readSlices(count: number, words: number): Promise<number[]> {
  const slices = [0];
  function* texts(): Generator<ShortText<string>> {
    for (let index = 0; index < count; index += 1) {
      slices.push((slices.pop() ?? 0) + 1);
      yield textOf(`item ${index}`, `Reads list ${index}. ${'word '.repeat(words)}`);
    }
  }
  const index = await createShortTextIndex(texts(), async () => slices.push(0));
  assert.equal(index.find(`list ${count - 1}`)[0], `item ${count - 1}`);
  return slices;
}

test('an index of 3,500 texts is built in slices of at most eight texts', async () => {
  const slices = await readSlices(3_500, 20);
  assert.ok(Math.max(...slices) <= slice.texts, String(Math.max(...slices)));
  assert.ok(slices.length >= 3_500 / slice.texts);
});

test('a slice ends after a long text', async () => {
  assert.deepEqual(await readSlices(4, slice.words), [1, 1, 1, 1, 0]);
});

test('texts of one item in two languages are found by both and listed once', async () => {
  const texts = [
    textOf('weather', 'weather forecast'),
    textOf('weather', '查询天气'),
    textOf('news', 'headlines'),
    textOf('news', '查询新闻'),
  ];
  const index = await createShortTextIndex(texts);
  assert.deepEqual(index.find('weather in Rome'), ['weather']);
  assert.deepEqual(index.find('明天的天气'), ['weather']);
  assert.deepEqual(index.find('新闻 headlines'), ['news']);
});

test('a Chinese question finds texts that exist in English only', async () => {
  const index = await createShortTextIndex([textOf('track', 'Track a parcel'), textOf('add', 'Add two numbers')]);
  assert.deepEqual(index.find('我的快递到哪里了'), ['track']);
});

test('Chinese words that say nothing about the subject find nothing', async () => {
  const index = await createShortTextIndex([textOf('one', '这是什么'), textOf('two', '怎么样')]);
  assert.deepEqual(index.find('这是什么'), []);
});
