import type { TestContext } from 'node:test';
import { Secret } from '../../../../platform/secret.ts';
import { startBroker, startServer } from '../../../../tools/egress/testing/broker.suite.ts';
import { createHttpReranker, type HttpRerankerDeps } from '../http-reranker.ts';

/**
 * Stands for the rerank API of Cohere (https://docs.cohere.com/reference/rerank, v2): `POST /v2/rerank` takes `model`, `query`,
 * `documents` and `top_n`, and returns `results` sorted by `relevance_score`, each with the `index` of its document, beside `id`
 * and `meta`. The API of Jina (https://api.jina.ai/redoc, `POST /v1/rerank`) has the same members, and returns `model` and
 * `usage` instead of `id` and `meta`.
 */

export interface RerankRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n: number;
  readonly return_documents?: boolean;
}

/** An answer with another status or another body, or null for none. */
export type RerankReply = { readonly status?: number; readonly body: unknown } | null;

export const hiddenKey = 'co-hidden-key';

/** Answers as the service does, with these scores in the order of the documents. */
export function rerankAnswer(scores: readonly number[]): RerankReply {
  const results = scores.map((relevance_score, index) => ({ index, relevance_score }));
  results.sort((a, b) => b.relevance_score - a.relevance_score);
  const meta = { api_version: { version: '2', is_experimental: false }, billed_units: { search_units: 1 } };
  return { body: { results, id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf', meta } };
}

/** Starts the service and a reranker that asks it. */
export async function startRerankService(
  t: TestContext,
  reply: (asked: RerankRequest, call: number) => RerankReply,
  more: Partial<HttpRerankerDeps> = {},
) {
  const calls: Array<{ readonly asked: RerankRequest; readonly path: string; readonly authorization: string }> = [];
  const server = await startServer(t, (request, response) => {
    const asked = JSON.parse(server.requests.at(-1)?.body ?? '') as RerankRequest;
    calls.push({ asked, path: request.url ?? '', authorization: request.headers.authorization ?? '' });
    const answer = reply(asked, calls.length);
    if (answer === null) return;
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });
  const reranker = createHttpReranker({
    provider: 'cohere',
    broker: startBroker(t, { overrides: new Map([[server.origin, server.origin]]) }),
    url: `${server.origin}/v2/`,
    model: 'rerank-v3.5',
    key: new Secret(hiddenKey),
    timeoutMs: 5_000,
    ...more,
  });
  return { calls, reranker, server };
}
