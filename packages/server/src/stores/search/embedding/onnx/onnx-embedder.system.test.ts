import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { installOnnxRuntime } from '../../../../../../../test/support/onnx-runtime.ts';
import { type TinyModel, writeTinyModel } from '../../../../../../../test/support/tiny-model.ts';
import { createLogger } from '../../../../platform/log/logger.ts';
import { temporaryFolder } from '../../../../platform/testing/temporary-folder.ts';
import { EmbedderUnavailable, type TextFailure } from '../embedder.ts';
import { type OnnxEmbedderOptions, openOnnxEmbedder } from './onnx-embedder.ts';

const never = new AbortController().signal;
/** The first two dimensions encode the meaning, the third marks a frame, and the fourth a prefix. */
const vectors = {
  car: [1, 0, 0, 0],
  automobile: [1, 0.1, 0, 0],
  tea: [0, 1, 0, 0],
  '[CLS]': [0, 0, 1, 0],
  '[SEP]': [0, 0, 1, 0],
  query: [0, 0, 0, 1],
  passage: [0, 0, 0, -1],
};

before(installOnnxRuntime);

async function folderWith(t: TestContext, model: Partial<TinyModel> = {}): Promise<string> {
  const folder = await temporaryFolder(t);
  await writeTinyModel(folder, { vectors, ...model });
  return folder;
}

async function open(t: TestContext, folder: string, more: Partial<OnnxEmbedderOptions> = {}) {
  const pids: number[] = [];
  const embedder = await openOnnxEmbedder({
    folder,
    dimensions: null,
    threads: 1,
    memoryMb: 2048,
    timeoutMs: 60_000,
    batchSize: 8,
    logger: createLogger('silent'),
    onStart: (pid) => pids.push(pid),
    ...more,
  });
  t.after(() => embedder.close());
  return { embedder, pids };
}

const unit = (...numbers: number[]) => numbers.map((value) => value / Math.hypot(...numbers));
function assertNear(found: Float32Array | TextFailure | undefined, expected: readonly number[]): void {
  assert.ok(found instanceof Float32Array);
  assert.equal(found.length, expected.length);
  for (const [place, value] of expected.entries())
    assert.ok(Math.abs((found[place] ?? 9) - value) < 1e-6, String(found));
}

test('the vector of a text is the mean of its tokens, of unit length, whatever the lengths of the texts', async (t) => {
  const { embedder, pids } = await open(t, await folderWith(t, { moreInputs: ['token_type_ids', 'position_ids'] }));
  const texts = ['tea', 'car car tea', 'Automobile', 'tea '.repeat(3000), 'car'];
  const vectors = await embedder.embed(texts, never);
  assertNear(vectors[0], unit(0, 1, 2, 0));
  assertNear(vectors[1], unit(2, 1, 2, 0));
  assertNear(vectors[2], unit(1, 0.1, 2, 0));
  // The text is truncated to 512 tokens, which include the special tokens at its start and end.
  assertNear(vectors[3], unit(0, 510, 2, 0));
  assertNear(vectors[4], unit(1, 0, 2, 0));
  assertNear(await embedder.embedQuestion('car', never), unit(1, 0, 2, 0));
  assert.match(embedder.model, /^onnx:[\w-]+:[0-9a-f]{12}:4$/);
  assert.equal(pids.length, 1);
});

test('the files beside a model determine pooling, prefixes and the longest text', async (t) => {
  const folder = await folderWith(t, {
    files: {
      '1_Pooling/config.json': { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
      'config_sentence_transformers.json': { prompts: { query: 'query ', document: 'passage ' } },
      'sentence_bert_config.json': { max_seq_length: 8 },
    },
  });
  const asPublished = await open(t, folder);
  assertNear(await asPublished.embedder.embedQuestion('car', never), [0, 0, 1, 0]);

  await writeFile(join(folder, 'quartermaster.json'), JSON.stringify({ pooling: 'mean' }));
  const { embedder } = await open(t, folder);
  assertNear(await embedder.embedQuestion('car', never), unit(1, 0, 2, 1));
  assertNear((await embedder.embed(['tea tea tea tea tea tea tea tea tea'], never))[0], unit(0, 5, 2, -1));
  assert.notEqual(embedder.model, asPublished.embedder.model, 'other vectors have another name');

  await writeFile(join(folder, 'quartermaster.json'), JSON.stringify({ pooling: 'last', query_prefix: '' }));
  assertNear(await (await open(t, folder)).embedder.embedQuestion('car', never), [0, 0, 1, 0]);
});

test('fewer dimensions are the first ones, of unit length again', async (t) => {
  const { embedder } = await open(t, await folderWith(t), { dimensions: 2 });
  assertNear(await embedder.embedQuestion('automobile', never), unit(1, 0.1));
  assert.match(embedder.model, /:2$/);
});

test('a text without tokens has no vector', async (t) => {
  const { embedder } = await open(t, await folderWith(t, { vectors: { car: [1, 0] } }));
  assert.deepEqual(
    (await embedder.embed(['car', 'unheard'], never)).map((embedded) => embedded instanceof Float32Array),
    [true, false],
  );
  await assert.rejects(embedder.embedQuestion('unheard', never), EmbedderUnavailable);
});

test('an ended process is started again, and its pending requests are repeated', async (t) => {
  const { embedder, pids } = await open(t, await folderWith(t));
  process.kill(pids[0] ?? -1, 'SIGSTOP');
  const embedding = embedder.embed(['car'], never);
  process.kill(pids[0] ?? -1, 'SIGKILL');
  assertNear((await embedding)[0], unit(1, 0, 2, 0));
  assert.equal(pids.length, 2);
  assertNear(await embedder.embedQuestion('tea', never), unit(0, 1, 2, 0));
});

test('a process that does not answer is ended, and the embedder pauses when it happens again', async (t) => {
  const { embedder, pids } = await open(t, await folderWith(t), { timeoutMs: 200 });
  process.kill(pids[0] ?? -1, 'SIGSTOP');
  await assert.rejects(embedder.embedQuestion('car', never), (error) => {
    assert.ok(error instanceof EmbedderUnavailable);
    assert.match(error.message, /no sign of life for 200 ms/);
    return true;
  });
  while (pids.length < 2) await embedder.embedQuestion('car', never).catch(() => pause(10));
  assert.throws(() => process.kill(pids[0] ?? -1, 0), 'the first one is gone');
});

test('a cancelled call rejects immediately, and the next question is answered', async (t) => {
  const { embedder, pids } = await open(t, await folderWith(t));
  const cancel = new AbortController();
  process.kill(pids[0] ?? -1, 'SIGSTOP');
  const embedding = embedder.embed(['car'], cancel.signal);
  cancel.abort(new Error('not wanted any more'));
  await assert.rejects(embedding, /not wanted any more/);
  process.kill(pids[0] ?? -1, 'SIGCONT');
  assertNear(await embedder.embedQuestion('tea', never), unit(0, 1, 2, 0));
  assert.equal(pids.length, 1);
});

test('changed files of the model are detected and not used', async (t) => {
  const folder = await folderWith(t);
  const { embedder, pids } = await open(t, folder);
  await writeTinyModel(folder, { vectors: { ...vectors, car: [0, 0, 0, 1] } });
  process.kill(pids[0] ?? -1, 'SIGKILL');
  let outcome: Error | undefined;
  // The old process may still answer until its end is noticed. After that the embedder pauses.
  const deadline = AbortSignal.timeout(60_000);
  while (!/files of the local model have changed/.test(outcome?.message ?? '')) {
    deadline.throwIfAborted();
    outcome = await embedder.embedQuestion('car', never).then(
      () => undefined,
      (error: Error) => error,
    );
    if (outcome !== undefined) {
      assert.ok(outcome instanceof EmbedderUnavailable);
      await pause(10);
    }
  }
});

test('an unusable model is refused at the start with the reason', async (t) => {
  const cases: ReadonlyArray<[RegExp, () => Promise<string>, Partial<OnnxEmbedderOptions>?]> = [
    [/has no model\.onnx/, () => folderWith(t).then((folder) => join(folder, 'missing'))],
    [/model requires the inputs pixel_values/, () => folderWith(t, { moreInputs: ['pixel_values'] })],
    [/cannot be used: .*(protobuf|Load model)/i, () => folderWith(t, { files: { 'model.onnx': 'no model' } })],
    [/cannot be used: .*JSON/i, () => folderWith(t, { files: { 'tokenizer.json': 'no JSON' } })],
    [/"poling" is not a known member/, () => folderWith(t, { files: { 'quartermaster.json': { poling: 'cls' } } })],
    [
      /"max_tokens" must be .*; received 3/,
      () => folderWith(t, { files: { 'quartermaster.json': { max_tokens: 3 } } }),
    ],
    [
      /uses a pooling method that is not supported/,
      () => folderWith(t, { files: { '1_Pooling/config.json': { pooling_mode_max_tokens: true } } }),
    ],
    [/DIMENSIONS is 8, but the model .* has 4/, () => folderWith(t), { dimensions: 8 }],
    [/more than 8 MiB of memory/, () => folderWith(t), { memoryMb: 8 }],
  ];
  for (const [message, createFolder, more] of cases) {
    const folder = await createFolder();
    await assert.rejects(open(t, folder, more), message);
  }
});

test('without the runtime the error names the command that installs it', async (t) => {
  const folder = await folderWith(t);
  const runtime = join(folder, 'package.json');
  await writeFile(runtime, JSON.stringify({ dependencies: { 'onnxruntime-node': '1.30.0' } }));
  await assert.rejects(
    open(t, folder, { runtime }),
    /needs onnxruntime-node 1\.30\.0, which is not installed\. In the folder of Quartermaster, run: npm run add-onnx/,
  );
});
