import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Secret } from '../../../platform/secret.ts';
import { never, startBroker, startServer } from '../../../tools/egress/testing/broker.suite.ts';
import { countTokens } from '../../extraction/tokens.ts';
import { EmbedderUnavailable, type TextFailure } from './embedder.ts';
import { createHttpEmbedder } from './http-embedder.ts';

/*
 * Requests and responses have the shape that OpenAI's API reference shows for "Create embeddings" and for its errors.
 */

interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
  readonly encoding_format: string;
}
interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Answers like the service: a vector of two numbers for each text, computed from its length. */
function embed({ input, model }: EmbeddingRequest): Reply {
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, 1] }));
  return { body: { object: 'list', data, model, usage: { prompt_tokens: 8, total_tokens: 8 } } };
}

const busy = (headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 429,
  headers,
  body: { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
});
const refused = {
  reason: "The embedding service answered with status 400 (This model's maximum context length is 8192 tokens)",
  isRefused: true,
};
const invalid: Reply = {
  status: 400,
  body: { error: { message: "This model's maximum context length is 8192 tokens", type: 'invalid_request_error' } },
};

async function open(
  t: TestContext,
  reply: (embedding: EmbeddingRequest, call: number) => Reply | null,
  more: object = {},
) {
  const calls: Array<{ asked: EmbeddingRequest; path: string; authorization: string | undefined }> = [];
  const server = await startServer(t, (request, response) => {
    const embedding = JSON.parse(server.requests.at(-1)?.body ?? '') as EmbeddingRequest;
    calls.push({ asked: embedding, path: request.url ?? '', authorization: request.headers.authorization });
    const answer = reply(embedding, calls.length);
    if (answer === null) return;
    const { status = 200, headers = {}, body } = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const embedder = createHttpEmbedder({
    provider: 'openai',
    prefixes: { question: null, chunk: null },
    countTokens,
    broker: startBroker(t, { overrides: new Map([[server.origin, server.origin]]) }),
    url: `${server.origin}/v1/`,
    model: 'text-embedding-3-small',
    key: new Secret('sk-hidden'),
    dimensions: null,
    batchSize: 4,
    timeoutMs: 5000,
    backoffMs: 1,
    ...more,
  });
  return { calls, embedder };
}

/** Returns the number that `embed` stored in a vector, or the failure. */
const ratio = (vector: Float32Array | TextFailure) =>
  vector instanceof Float32Array ? Math.round((vector[0] ?? 0) / (vector[1] ?? 1)) : vector;

test('texts become vectors of unit length, in their order, with the key as bearer token', async (t) => {
  const { calls, embedder } = await open(t, (embedding) => {
    const { body } = embed(embedding) as { body: { data: unknown[] } };
    return { body: { ...body, data: body.data.reverse() } };
  });
  const vectors = await embedder.embed(['a', 'bbb', 'cc'], never);
  assert.deepEqual(vectors.map(ratio), [1, 3, 2]);
  for (const vector of vectors) assert.ok(vector instanceof Float32Array && Math.abs(Math.hypot(...vector) - 1) < 1e-6);
  assert.deepEqual(calls, [
    {
      asked: { model: 'text-embedding-3-small', encoding_format: 'float', input: ['a', 'bbb', 'cc'] },
      path: '/v1/embeddings',
      authorization: 'Bearer sk-hidden',
    },
  ]);
  assert.equal(embedder.model, 'openai:text-embedding-3-small');
});

test('an embedder without a key sends none, and requested dimensions are part of its name', async (t) => {
  const { calls, embedder } = await open(t, embed, { key: null, dimensions: 2 });
  await embedder.embed(['a'], never);
  assert.deepEqual([calls[0]?.authorization, calls[0]?.asked.dimensions], [undefined, 2]);
  assert.equal(embedder.model, 'openai:text-embedding-3-small:2');
});

for (const [name, reply] of [
  ['a limit of rate that says when', busy({ 'retry-after': '0' })],
  ['a limit of rate that does not say when', busy()],
  ['a failure of the service', { status: 503, body: 'upstream is down' }],
] as const) {
  test(`${name} is retried and not visible`, async (t) => {
    const { calls, embedder } = await open(t, (embedding, call) => (call < 3 ? reply : embed(embedding)));
    assert.deepEqual((await embedder.embed(['a'], never)).map(ratio), [1]);
    assert.equal(calls.length, 3);
  });
}

test('a request fails after five attempts, and a question has one attempt', async (t) => {
  const { calls, embedder } = await open(t, () => ({ status: 500, body: {} }));
  await assert.rejects(
    embedder.embed(['a'], never),
    new EmbedderUnavailable('The embedding service answered with status 500'),
  );
  // The last call asks whether the service accepts another text.
  assert.equal(calls.length, 6);
  await assert.rejects(embedder.embedQuestion('a', never), EmbedderUnavailable);
  assert.equal(calls.length, 7);
});

test('a text that the service fails to process does not stop the others, and is not refused', async (t) => {
  const { calls, embedder } = await open(t, (embedding) =>
    embedding.input.includes('NaN') ? { status: 500, body: { error: 'unsupported value: NaN' } } : embed(embedding),
  );
  assert.deepEqual((await embedder.embed(['a', 'NaN', 'bb', 'ccc'], never)).map(ratio), [
    1,
    { reason: 'The embedding service answered with status 500 (unsupported value: NaN)', isRefused: false },
    2,
    3,
  ]);
  // Five attempts of the batch, another text, two halves, and two single texts.
  assert.equal(calls.length, 10);
});

test('a service that asks for a long wait is not awaited', async (t) => {
  const { calls, embedder } = await open(t, () => busy({ 'retry-after': '3600' }));
  const isPatient = (error: unknown) => error instanceof EmbedderUnavailable && error.retryAfterMs === 3_600_000;
  await assert.rejects(embedder.embed(['a'], never), isPatient);
  await assert.rejects(embedder.embedQuestion('a', never), isPatient);
  assert.equal(calls.length, 2);
});

test('a bad key is reported immediately, and the key never appears', async (t) => {
  const { calls, embedder } = await open(t, () => ({
    status: 401,
    body: { error: { message: 'Incorrect API key sk-hidden' } },
  }));
  await assert.rejects(embedder.embed(['a'], never), (error: Error) => {
    assert.equal(
      error.message,
      'The embedding service rejected the API key with status 401. Check QUARTERMASTER_EMBEDDING_KEY.',
    );
    return error instanceof EmbedderUnavailable;
  });
  assert.equal(calls.length, 1);
});

test('in a refused batch only the invalid text has no vector', async (t) => {
  const { embedder } = await open(t, (embedding) =>
    embedding.input.includes('too long') ? invalid : embed(embedding),
  );
  const vectors = await embedder.embed(['a', 'bb', 'too long', 'ccc'], never);
  assert.deepEqual(vectors.map(ratio), [1, 2, refused, 3]);
});

test('a text that is refused alone has no vector when another text of the batch is accepted', async (t) => {
  const { calls, embedder } = await open(t, (embedding) =>
    embedding.input.includes('too long') ? invalid : embed(embedding),
  );
  assert.deepEqual(await embedder.embed(['too long'], never), [refused]);
  assert.deepEqual(
    calls.map(({ asked: embedding }) => embedding.input),
    [['too long'], ['test'], ['too long']],
  );
});

test('a service that refuses every text is misconfigured, and no text counts as refused', async (t) => {
  const { calls, embedder } = await open(t, () => ({
    status: 400,
    body: { error: { code: 400, message: 'API key sk-hidden not valid.', status: 'INVALID_ARGUMENT' } },
  }));
  await assert.rejects(
    embedder.embed(['a', 'b', 'c', 'd'], never),
    new EmbedderUnavailable(
      'The embedding service answered with status 400 (API key [redacted] not valid.) to every text',
    ),
  );
  assert.equal(calls.length, 2);
  await assert.rejects(embedder.embed(['a'], never), EmbedderUnavailable);
  await assert.rejects(embedder.embedQuestion('a', never), /status 400 .* to a query/);
});

test('an invalid response gives no vector', async (t) => {
  const answers: unknown[] = [
    'not json',
    { data: 'x' },
    { data: [null] },
    { data: [] },
    { data: [{ index: 1, embedding: [1] }] },
    { data: [{ index: 0, embedding: [] }] },
    { data: [{ index: 0, embedding: ['1'] }] },
    { data: [{ index: 0, embedding: [1e39, 1] }] },
    { data: [{ index: 0, embedding: [0, 0, -0, 1e-50] }] },
    {
      data: [
        { index: 0, embedding: [1] },
        { index: 0, embedding: [1] },
      ],
    },
  ];
  const { embedder } = await open(t, (_, call) => ({ body: answers[call - 1] }));
  for (const answer of answers) {
    await assert.rejects(embedder.embed(['a'], never), /sent an invalid response/, JSON.stringify(answer));
  }
});

test('a silent or missing service is unavailable', async (t) => {
  const { embedder } = await open(t, () => null, { timeoutMs: 50 });
  await assert.rejects(embedder.embedQuestion('a', never), /did not answer within 50 ms/);
  const gone = createHttpEmbedder({
    provider: 'openai',
    prefixes: { question: null, chunk: null },
    countTokens,
    broker: startBroker(t, { overrides: new Map([['http://127.0.0.1:9', 'http://127.0.0.1:9']]) }),
    ...{ url: 'http://127.0.0.1:9', model: 'm', key: null, dimensions: null },
    ...{ batchSize: 1, timeoutMs: 1000, backoffMs: 1 },
  });
  await assert.rejects(gone.embed(['a'], never), /cannot be reached/);
});

test('long and empty texts are changed so that the service accepts them', async (t) => {
  const { calls, embedder } = await open(t, embed);
  await embedder.embed([`${'a'.repeat(7_999)}🦊`, ' '], never);
  assert.deepEqual(
    calls[0]?.asked.input.map((text) => [text.length, text.isWellFormed()]),
    [
      [8_000, true],
      [1, true],
    ],
  );
});
