import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createMetrics } from '../../../platform/metrics.ts';
import type { Database } from '../../../storage/database/database.ts';
import { longestRerankedText, mostReranked } from '../../search/reranking/rerank-hits.ts';
import { createRerankerMetrics } from '../../search/reranking/reranker.ts';
import {
  type RerankReply,
  type RerankRequest,
  rerankAnswer,
  startRerankService,
} from '../../search/reranking/testing/rerank-service.suite.ts';
import { openTestDatabase, openTestPostgres, openTestService } from '../testing/test-collections.suite.ts';

interface Found {
  readonly chunk_id: string;
  readonly content: string;
  readonly score: number;
  readonly rerank_score?: number;
}

const databases = { SQLite: openTestDatabase, PostgreSQL: openTestPostgres };

/** A model that prefers texts with a higher number at their end, against the order of the search. */
const byNumber = ({ documents }: RerankRequest) =>
  rerankAnswer(documents.map((text) => Number(/\d{1,4}$/.exec(text)?.[0] ?? 0) / 1000));

async function open(t: TestContext, database: Database, reply: (asked: RerankRequest) => RerankReply = byNumber) {
  const { reranker, calls } = await startRerankService(t, reply);
  const registry = createMetrics();
  const warnings: unknown[] = [];
  const logger = { warn: (fields: object) => void warnings.push(fields) } as never;
  const reranking = { reranker, metrics: createRerankerMetrics(registry), logger };
  const service = await openTestService(t, { database, reranking });
  return { service, project: service.createProject(), calls, warnings, metrics: () => registry.metrics() };
}

type Project = Awaited<ReturnType<typeof open>>['project'];

async function addFoxes({ collection, record }: Project, count: number): Promise<string> {
  const collectionId = await collection();
  const contents = Array.from({ length: count }, (_, n) => `${'fox '.repeat(1 + ((n * 7) % 5))}in chapter ${n}`);
  await record(collectionId, { content: contents.join('|'), text_splitter: { type: 'separator', separators: ['|'] } });
  return collectionId;
}

for (const [name, openDatabase] of Object.entries(databases)) {
  test(`${name}: the service sorts the results of a question that asks for it, and all its pages`, async (t) => {
    const { project, calls, metrics } = await open(t, await openDatabase(t));
    const { call } = project;
    const url = `/v1/collections/${await addFoxes(project, 30)}/chunks/query`;
    const plain = (await call('POST', url, { query_text: 'fox', top_k: 30 })).body;
    assert.deepEqual([plain.reranking, calls.length], ['off', 0]);
    const read: Found[] = [];
    for (let after: string | undefined, hasMore = true; hasMore; after = read.at(-1)?.chunk_id) {
      const page = (await call('POST', url, { query_text: 'fox', top_k: 4, rerank: true, after })).body;
      assert.equal(page.reranking, 'applied');
      read.push(...page.data);
      hasMore = page.has_more;
    }
    assert.deepEqual(
      read.map(({ content, rerank_score }) => [content.split(' ').at(-1), rerank_score]),
      Array.from({ length: 30 }, (_, n) => [`${29 - n}`, (29 - n) / 1000]),
    );
    const scores = new Map(plain.data.map(({ chunk_id, score }: Found) => [chunk_id, score]));
    for (const { chunk_id, score } of read) assert.equal(score, scores.get(chunk_id));
    assert.ok(calls.every(({ asked }) => asked.query === 'fox' && asked.documents.length === 30));
    assert.match(await metrics(), /reranked_questions_total\{outcome="applied"\} 8/);
  });

  test(`${name}: the answer has the order of the search and says so while the service fails`, async (t) => {
    const { project, warnings, metrics } = await open(t, await openDatabase(t), () => ({ status: 500, body: {} }));
    const { call } = project;
    const url = `/v1/collections/${await addFoxes(project, 8)}/chunks/query`;
    const plain = (await call('POST', url, { query_text: 'fox', top_k: 5 })).body;
    const { status, body } = await call('POST', url, { query_text: 'fox', top_k: 5, rerank: true });
    assert.deepEqual([status, body.reranking, body.data], [200, 'unavailable', plain.data]);
    assert.deepEqual(warnings, [{ reason: 'The reranking service answered with status 500.' }]);
    assert.match(await metrics(), /reranked_questions_total\{outcome="unavailable"\} 1/);
  });

  test(`${name}: the limit question_reranked bounds the texts that are sent, and each text is cut`, async (t) => {
    const { project, calls } = await open(t, await openDatabase(t));
    const { call } = project;
    const collectionId = await addFoxes(project, mostReranked + 20);
    const path = `/v1/collections/${collectionId}/chunks`;
    await call('POST', path, { content: `fox fox fox fox fox ${'fox '.repeat(longestRerankedText / 2)}` });
    const question = { query_text: 'fox', top_k: 100, rerank: true };
    const first = (await call('POST', `${path}/query`, question)).body;
    const rest = (await call('POST', `${path}/query`, { ...question, after: first.data[99].chunk_id })).body;
    const found: Found[] = [...first.data, ...rest.data];
    assert.equal(found.length, mostReranked + 21);
    assert.ok(found.slice(0, mostReranked).every(({ rerank_score }) => rerank_score !== undefined));
    assert.ok(found.slice(mostReranked).every(({ rerank_score }) => rerank_score === undefined));
    for (const { asked } of calls) {
      assert.equal(asked.documents.length, mostReranked);
      assert.equal(Math.max(...asked.documents.map((text) => text.length)), longestRerankedText);
    }
  });
}

test('a collection asks for reranking by default, and a question overrides it', async (t) => {
  const { project, calls } = await open(t, await openTestDatabase(t));
  const { call } = project;
  const collectionId = await addFoxes(project, 5);
  const path = `/v1/collections/${collectionId}`;
  await call('POST', path, { retrieval: { rerank: true } });
  const reranking = async (body: object) =>
    (await call('POST', `${path}/chunks/query`, { query_text: 'fox', ...body })).body.reranking;
  assert.deepEqual([await reranking({}), await reranking({ rerank: false })], ['applied', 'off']);
  const both = { query_text: 'fox', collection_ids: [collectionId, await addFoxes(project, 5)] };
  assert.equal((await call('POST', '/v1/chunks/query', both)).body.reranking, 'off');
  const { body } = await call('POST', '/v1/chunks/query', { ...both, rerank: true });
  assert.equal(body.reranking, 'applied');
  assert.deepEqual(
    calls.map(({ asked }) => asked.documents.length),
    [5, 5],
  );
});

test('a question to a collection of another project sends nothing to the service', async (t) => {
  const { service, project, calls } = await open(t, await openTestDatabase(t));
  const collectionId = await addFoxes(project, 3);
  const { call } = service.createProject();
  const asked = { query_text: 'fox', rerank: true };
  assert.equal((await call('POST', `/v1/collections/${collectionId}/chunks/query`, asked)).status, 404);
  assert.equal((await call('POST', '/v1/chunks/query', { ...asked, collection_ids: [collectionId] })).status, 404);
  assert.equal(calls.length, 0);
});

test('without a service, a question that asks for reranking has the order of the search and says so', async (t) => {
  const { createProject } = await openTestService(t);
  const project = createProject();
  const url = `/v1/collections/${await addFoxes(project, 5)}/chunks/query`;
  const { body } = await project.call('POST', url, { query_text: 'fox', rerank: true });
  assert.deepEqual([body.reranking, body.data.length], ['not_configured', 5]);
});
