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

/** Titles of Trello's and Google's documents, and texts that repeat the words of the questions below. */
const operations: ReadonlyArray<readonly [owner: string, title: string, text: string]> = [
  ['Trello REST API', 'Get a Board', `Request a single board. ${'This is a nested resource. '.repeat(20)}`],
  ['Trello REST API', 'Get boardStars on a Board', 'Get the stars of a board. Boards: get a board by its board id.'],
  ['Trello REST API', 'Get the Board the Card is on', 'Get the board a card is on. Get board fields.'],
  ['Trello', 'List boards', 'The open boards of the user of the token.'],
  [
    'Trello',
    'Search cards',
    'Boards and cards of a list of boards: a card, a board, cards of a board, lists of cards.',
  ],
  [
    'Google Tasks API',
    'Tasks clear',
    'Clears all completed tasks from the task list. Task lists: the list of tasks of the list.',
  ],
  ['Google Tasks API', 'Tasklists delete', 'Deletes the task list. Task list: the list.'],
  [
    'Google Tasks API',
    'Tasklists list',
    `All the lists of the user. ${'A user can have up to 2000 of them. '.repeat(9)}`,
  ],
];

test('a tool whose title is the question comes first, whatever its description', async () => {
  const texts = operations.map(([owner, title, text]): ShortText<string> => {
    const fields = [
      { text: owner, weight: 2, role: 'owner' },
      { text: title, weight: 3, role: 'title' },
    ] as const;
    return { item: title, fields: [...fields, { text, weight: 2 }] };
  });
  const index = await createShortTextIndex(texts);
  for (const [question, title] of [
    ['get a board', 'Get a Board'],
    ['list task lists', 'Tasklists list'],
    ['list my task lists', 'Tasklists list'],
    ['trello list boards', 'List boards'],
    ['boards list please', 'List boards'],
  ] as const)
    assert.equal(index.find(question)[0], title, question);
});
