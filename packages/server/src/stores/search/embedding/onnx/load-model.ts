import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { normalise } from '../vectors.ts';
import type { Pooling, StartMessage } from './onnx-protocol.ts';

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

/** The output of a model: text · token · dimension, or text · dimension when the model has already pooled. */
interface ModelOutput {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** Returns one vector of unit length for each text; null where the vector is zero or not a number. */
function poolTokens(output: ModelOutput, batch: TokenBatch, pooling: Pooling): Array<Float32Array | null> {
  const { data, dims } = output;
  const dimensions = dims.at(-1) ?? 0;
  return batch.ids.map((ids, row) => {
    if (dims.length === 2) return finish(data.slice(row * dimensions, (row + 1) * dimensions));
    const start = row * batch.length * dimensions;
    const tokenAt = (place: number) => data.subarray(start + place * dimensions, start + (place + 1) * dimensions);
    if (pooling === 'cls') return finish(tokenAt(0).slice());
    if (pooling === 'last') return finish(tokenAt(ids.length - 1).slice());
    const sum = new Float32Array(dimensions);
    for (let place = 0; place < ids.length; place++) {
      const token = tokenAt(place);
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + (token[i] ?? 0);
    }
    return finish(sum);
  });
}

function finish(vector: Float32Array): Float32Array | null {
  return vector.every(Number.isFinite) && vector.some((value) => value !== 0) ? normalise(vector) : null;
}

/** The part of a tokenizer in use. */
interface TextTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { readonly ids: readonly number[] };
}

/** Texts that the model processes together. */
export interface TokenBatch {
  /** The indexes of the texts in the list. */
  readonly places: readonly number[];
  readonly ids: ReadonlyArray<readonly number[]>;
  /** The number of tokens of the longest text. */
  readonly length: number;
}

/** The maximum number of tokens of one batch, including padding. A small model takes half a second on one core. */
const maxBatchTokens = 2048;
/** More characters than an average token has in any language. Longer texts are truncated before they are tokenized. */
const charactersPerToken = 12;

/**
 * Returns a function that tokenizes a text: the tokens before it, the text as far as it fits, and the tokens after it.
 */
function createTokenize(tokenizer: TextTokenizer, maxTokens: number): (text: string) => readonly number[] {
  const { head, tail } = findFrame(tokenizer);
  const available = Math.max(1, maxTokens - head.length - tail.length);
  return (text) => {
    const bounded = text.slice(0, maxTokens * charactersPerToken).toWellFormed();
    const { ids } = tokenizer.encode(bounded, { add_special_tokens: false });
    const framed = [...head, ...ids.slice(0, available), ...tail];
    // A model needs at least one token.
    return framed.length === 0 ? [0] : framed;
  };
}

/** Finds the tokens that the tokenizer puts around a text, such as [CLS] and [SEP]. */
function findFrame(tokenizer: TextTokenizer): { head: readonly number[]; tail: readonly number[] } {
  const bare = tokenizer.encode('a', { add_special_tokens: false }).ids;
  const framed = tokenizer.encode('a', { add_special_tokens: true }).ids;
  for (let at = 0; at + bare.length <= framed.length; at++) {
    if (bare.every((id, place) => framed[at + place] === id)) {
      return { head: framed.slice(0, at), tail: framed.slice(at + bare.length) };
    }
  }
  return { head: [], tail: [] };
}

/** Batches texts of similar length, because padding costs as much as text. */
function createBatches(texts: ReadonlyArray<readonly number[]>): TokenBatch[] {
  const order = texts.map((ids, place) => ({ ids, place })).sort((a, b) => a.ids.length - b.ids.length);
  const batches: TokenBatch[] = [];
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && (to + 1 - from) * (order[to]?.ids.length ?? 0) <= maxBatchTokens) to += 1;
    const some = order.slice(from, to);
    batches.push({
      places: some.map(({ place }) => place),
      ids: some.map(({ ids }) => ids),
      length: some.at(-1)?.ids.length ?? 0,
    });
    from = to;
  }
  return batches;
}
