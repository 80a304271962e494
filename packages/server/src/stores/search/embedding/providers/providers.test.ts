import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { countTokens as countOtherTokens } from 'gpt-tokenizer/encoding/r50k_base';
import {
  doubleDimensions,
  embeddingDoubles,
  startEmbeddingDouble,
} from '../../../../../../../test/support/embedding-doubles.ts';
import { embeddingProviderNames } from '../../../../app/settings/settings.ts';
import { Secret } from '../../../../platform/secret.ts';
import { never, startBroker } from '../../../../tools/egress/testing/broker.suite.ts';
import { countTokens } from '../../../extraction/tokens.ts';
import { EmbedderUnavailable } from '../embedder.ts';
import { createHttpEmbedder, type HttpEmbedderDeps } from '../http-embedder.ts';
import { type EmbeddingProviderName, embeddingProviders } from './providers.ts';

const key = 'sk-hidden';
/** A vector that tells the length of the text, and has the requested dimensions. */
const embed = (text: string, dimensions: number) =>
  Array.from({ length: dimensions }, (_, place) => (place === 0 ? text.length : 1));
const lengthOf = (vector: unknown) =>
  vector instanceof Float32Array ? Math.round((vector[0] ?? 0) / (vector[1] ?? 1)) : vector;

interface Limits {
  readonly maxTokens?: number;
  readonly tokenizer?: (text: string) => number;
}

async function open(
  t: TestContext,
  provider: EmbeddingProviderName,
  { maxTokens, tokenizer, ...changes }: Partial<HttpEmbedderDeps> & Limits = {},
) {
  const double = await startEmbeddingDouble(t, provider, {
    key,
    embed,
    ...(maxTokens && { maxTokens }),
    ...(tokenizer && { countTokens: tokenizer }),
  });
  const tokens: Array<[string, number]> = [];
  const embedder = createHttpEmbedder({
    provider,
    broker: startBroker(t, { overrides: new Map([[double.origin, double.origin]]) }),
    url: double.url,
    model: 'm',
    key: new Secret(key),
    dimensions: null,
    prefixes: { question: null, chunk: null },
    batchSize: 2048,
    countTokens,
    timeoutMs: 5000,
    backoffMs: 1,
    onTokens: (use, count) => tokens.push([use, count]),
    ...changes,
  });
  return { double, embedder, tokens };
}

/** How each API tells the use of a text, as its document says; null where it does not. */
const uses: Readonly<Record<EmbeddingProviderName, readonly [chunk: string | null, question: string | null]>> = {
  openai: [null, null],
  azure: [null, null],
  ollama: [null, null],
  tei: [null, null],
  vllm: [null, null],
  cohere: ['search_document', 'search_query'],
  voyage: ['document', 'query'],
  gemini: ['RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY'],
  jina: ['retrieval.passage', 'retrieval.query'],
  mistral: [null, null],
};

test('the setting names exactly the providers of the table', () => {
  assert.deepEqual(Object.keys(embeddingProviders).sort(), [...embeddingProviderNames].sort());
});

for (const provider of embeddingProviderNames) {
  test(`${provider} accepts chunks and a question, and its answer gives their vectors in order`, async (t) => {
    const { double, embedder, tokens } = await open(t, provider);
    assert.deepEqual((await embedder.embed(['aaaa', 'bb', 'c'], never)).map(lengthOf), [4, 2, 1]);
    const question = await embedder.embedQuestion('ddddd', never);
    assert.deepEqual([lengthOf(question), question.length], [5, doubleDimensions]);
    const [chunk, asked] = uses[provider];
    assert.deepEqual(double.requests, [
      { texts: ['aaaa', 'bb', 'c'], use: chunk },
      { texts: ['ddddd'], use: asked },
    ]);
    // Text Embeddings Inference states no tokens.
    const stated = [
      ['chunk', 3],
      ['question', 2],
    ];
    assert.deepEqual(tokens, provider === 'tei' ? [] : stated);
    assert.equal(embedder.model, `${provider}:m`);
  });

  test(`${provider} returns the requested dimensions`, async (t) => {
    const { embedder } = await open(t, provider, { dimensions: 512 });
    const [vector] = await embedder.embed(['a'], never);
    assert.equal(vector instanceof Float32Array && vector.length, 512);
    assert.equal(embedder.model, `${provider}:m:512`);
  });

  test(`${provider} never gets more texts than its document allows`, async (t) => {
    const { double, embedder } = await open(t, provider);
    const { maxTexts } = embeddingProviders[provider];
    assert.equal(embedder.batchSize, maxTexts);
    assert.ok(maxTexts <= embeddingDoubles[provider].maxTexts);
    const texts = Array.from({ length: maxTexts + 1 }, (_, place) => 'a'.repeat(1 + (place % 7)));
    assert.deepEqual(
      (await embedder.embed(texts, never)).map(lengthOf),
      texts.map((text) => text.length),
    );
    assert.deepEqual(double.refused, []);
    assert.deepEqual(
      double.requests.map((request) => request.texts.length),
      [maxTexts, 1],
    );
  });

  test(`${provider} with a wrong key is unavailable, and the key is not in the error`, async (t) => {
    const { embedder } = await open(t, provider, { key: new Secret('sk-wrong-and-hidden') });
    await assert.rejects(embedder.embed(['a'], never), (error: Error) => {
      assert.ok(error instanceof EmbedderUnavailable);
      assert.match(error.message, /status 40[01]/);
      return !error.message.includes('hidden');
    });
  });

  test(`${provider} gives the reason of a refusal in its own words`, async (t) => {
    // One token is allowed, so the acceptable text fits and the other does not.
    const { embedder } = await open(t, provider, { maxTokens: 1 });
    const [failure] = await embedder.embed(['too long'], never);
    assert.match(JSON.stringify(failure), /Too many tokens in batch/);
  });
}

test('the texts of a request have no more tokens than the provider allows, counted by another tokenizer', async (t) => {
  const { double, embedder } = await open(t, 'mistral', { maxTokens: 16_384, tokenizer: countOtherTokens });
  const words = 'Quartermaster answers questions about many documents in several languages. '.repeat(90);
  const texts = Array.from({ length: 50 }, (_, place) => `${place} ${words}`);
  assert.ok(texts.reduce((sum, text) => sum + countOtherTokens(text), 0) > 2 * 16_384);
  assert.equal((await embedder.embed(texts, never)).length, 50);
  assert.deepEqual(double.refused, []);
  assert.ok(double.requests.length <= 6, String(double.requests.length));
});

test('a batch with more tokens than were estimated is halved, and every text gets its vector', async (t) => {
  const { double, embedder } = await open(t, 'mistral', { maxTokens: 16_384, tokenizer: (text) => text.length });
  const texts = Array.from({ length: 8 }, (_, place) => `${place} documents`.repeat(250));
  const vectors = await embedder.embed(texts, never);
  assert.deepEqual(
    vectors.map((vector) => vector instanceof Float32Array),
    texts.map(() => true),
  );
  assert.equal(double.refused.length, 1);
});

test('prefixes come before questions and chunks, and the prefix of chunks is part of the model', async (t) => {
  const { double, embedder } = await open(t, 'tei', { prefixes: { question: 'query: ', chunk: 'passage: ' } });
  await embedder.embed(['a'], never);
  await embedder.embedQuestion('b', never);
  assert.deepEqual(
    double.requests.map(({ texts }) => texts),
    [['passage: a'], ['query: b']],
  );
  assert.match(embedder.model, /^tei:m:[0-9a-f]{12}$/);
  const other = await open(t, 'tei', { prefixes: { question: 'other: ', chunk: 'passage: ' } });
  assert.equal(other.embedder.model, embedder.model);
});

test('a Gemini model without task types gets its use in the text, unless the operator sets prefixes', () => {
  const { prefixes, body } = embeddingProviders.gemini;
  const model = 'gemini-embedding-2';
  assert.deepEqual(prefixes(model), { question: 'task: search result | query: ', chunk: 'title: none | text: ' });
  assert.deepEqual(prefixes('gemini-embedding-001'), { question: '', chunk: '' });
  const request = { model, texts: ['a'], use: 'chunk', dimensions: undefined } as const;
  assert.deepEqual(JSON.parse(JSON.stringify(body(request))), {
    requests: [{ model: 'models/gemini-embedding-2', content: { parts: [{ text: 'a' }] } }],
  });
});

test('a text with a status of 424 waits for another attempt and does not stop the others', async (t) => {
  const calls: string[][] = [];
  const broker = startBroker(t);
  const { embedder } = await open(t, 'tei', {
    broker: {
      ...broker,
      async send(request) {
        const { inputs } = JSON.parse(String(request.body)) as { inputs: string[] };
        calls.push(inputs);
        const fails = inputs.includes('bad');
        const body = fails ? { error: 'Inference failed', error_type: 'Backend' } : inputs.map(() => [1, 2]);
        const answer = { headers: {}, finalUrl: '', body: Buffer.from(JSON.stringify(body)) };
        return { kind: 'response', status: fails ? 424 : 200, ...answer };
      },
    },
  });
  const [first, second] = await embedder.embed(['good', 'bad'], never);
  assert.ok(first instanceof Float32Array);
  assert.deepEqual(second, {
    reason: 'The embedding service answered with status 424 (Inference failed)',
    isRefused: false,
  });
});
