import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { StartMessage } from './onnx-protocol.ts';
import { type ModelOutput, poolTokens } from './pool-tokens.ts';
import { createBatches, createTokenize, type TextTokenizer, type TokenBatch } from './token-batches.ts';

/* The runtime is not installed with the service, so its types are missing. These types declare the part in use. */
interface Tensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}
interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly inputMetadata: ReadonlyArray<{ readonly name: string; readonly type?: string }>;
  run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
}
interface Runtime {
  readonly InferenceSession: { create(file: string, options: object): Promise<Session> };
  readonly Tensor: new (type: string, data: BigInt64Array | Int32Array, dims: readonly number[]) => Tensor;
}
interface Tokenizers {
  readonly Tokenizer: new (tokenizer: object, config: object) => TextTokenizer;
}

export interface LoadedModel {
  readonly dimensions: number;
  readonly fingerprint: string;
  prepare(texts: readonly string[]): TokenBatch[];
  embed(batch: TokenBatch): Promise<Array<Float32Array | null>>;
}

/** For each known input, the value for a token and its position; 0 after the end of a text. */
const inputs: Readonly<Record<string, (id: number, place: number) => number>> = {
  input_ids: (id) => id,
  attention_mask: () => 1,
  token_type_ids: () => 0,
  position_ids: (_id, place) => place,
};
/** The outputs that can be pooled, in order of preference. */
const outputs = ['last_hidden_state', 'token_embeddings', 'sentence_embedding'];

/** @throws Error with a message for the operator */
export async function loadModel({ runtime, model, threads }: StartMessage): Promise<LoadedModel> {
  const require = createRequire(runtime);
  const ort: Runtime = require('onnxruntime-node');
  const tokenizers: Tokenizers = require('@huggingface/tokenizers');
  const tokenizer = new tokenizers.Tokenizer(
    JSON.parse(await readFile(model.tokenizerFile, 'utf8')),
    model.tokenizerConfigFile === null ? {} : JSON.parse(await readFile(model.tokenizerConfigFile, 'utf8')),
  );
  const session = await ort.InferenceSession.create(model.modelFile, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
  });
  const unknown = session.inputNames.filter((name) => !Object.hasOwn(inputs, name));
  if (unknown.length > 0) {
    throw new Error(
      `The model requires the inputs ${unknown.join(', ')}. Supported inputs: ${Object.keys(inputs).join(', ')}.`,
    );
  }
  const tokenize = createTokenize(tokenizer, model.maxTokens);
  const prepare = (texts: readonly string[]) => createBatches(texts.map(tokenize));
  const run = async (batch: TokenBatch) => readOutput(session, await session.run(feed(ort, session, batch)), batch);
  // The probe determines the dimensions, because the files of a model may be wrong about them. It also warms the model
  // up.
  const [probe] = prepare(['a']);
  const dimensions = probe === undefined ? 0 : ((await run(probe)).dims.at(-1) ?? 0);
  return {
    dimensions,
    fingerprint: await fingerprintOf(model),
    prepare,
    embed: async (batch) => poolTokens(await run(batch), batch, model.pooling),
  };
}

function feed(ort: Runtime, session: Session, { ids, length }: TokenBatch): Record<string, Tensor> {
  const dims = [ids.length, length];
  const feeds: Record<string, Tensor> = {};
  for (const name of session.inputNames) {
    const valueAt = inputs[name] ?? (() => 0);
    const wide = session.inputMetadata.find((input) => input.name === name)?.type !== 'int32';
    const values = new Int32Array(ids.length * length);
    for (const [row, text] of ids.entries()) {
      for (const [place, id] of text.entries()) values[row * length + place] = valueAt(id, place);
    }
    feeds[name] = wide
      ? new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims)
      : new ort.Tensor('int32', values, dims);
  }
  return feeds;
}

function readOutput(session: Session, results: Record<string, Tensor>, batch: TokenBatch): ModelOutput {
  const name = outputs.find((known) => session.outputNames.includes(known)) ?? session.outputNames[0] ?? '';
  const { data, dims } = results[name] ?? { data: null, dims: [] };
  if (!(data instanceof Float32Array)) throw new Error(`The output ${name} of the model must be 32-bit floats.`);
  const fits = dims[0] === batch.ids.length && (dims.length === 2 || (dims.length === 3 && dims[1] === batch.length));
  if (!fits)
    throw new Error(`The output ${name} of the model has the shape ${dims.join(' × ')}, which does not hold vectors.`);
  return { data, dims };
}

/** Identifies the weights, the tokenizer and the settings, because a change of any of them changes the vectors. */
async function fingerprintOf({ modelFile, tokenizerFile, pooling, maxTokens }: StartMessage['model']): Promise<string> {
  const hash = createHash('sha256').update(`${pooling} ${maxTokens}`);
  // Large weights are stored in a separate file.
  for (const file of [modelFile, `${modelFile}_data`, `${modelFile}.data`, tokenizerFile]) {
    const there = await access(file).then(
      () => true,
      () => false,
    );
    if (there) for await (const part of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(part);
  }
  return hash.digest('hex').slice(0, 12);
}
