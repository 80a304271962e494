import { withoutTrailingSlashes } from '@quartermaster/contract';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { EgressResult, Outbound, OutboundPolicy } from '../../../platform/outbound.ts';
import type { Secret } from '../../../platform/secret.ts';
import { type Reranker, RerankerUnavailable } from './reranker.ts';

/**
 * The services whose `/rerank` takes `model`, `query` and `documents`, and returns `results` with `index` and
 * `relevance_score`. Sources: https://docs.cohere.com/reference/rerank (v2) and https://api.jina.ai/redoc (`/v1/rerank`).
 */
export const rerankingProviders = {
  cohere: { url: 'https://api.cohere.com/v2', more: {} },
  // Without this member, Jina returns all texts.
  jina: { url: 'https://api.jina.ai/v1', more: { return_documents: false } },
} as const satisfies Record<string, { readonly url: string; readonly more: object }>;

export interface HttpRerankerDeps {
  readonly provider: keyof typeof rerankingProviders;
  /** Connects to the endpoint, as the operator has configured it. */
  readonly broker: Outbound;
  /** The base URL; `/rerank` follows. */
  readonly url: string;
  readonly model: string;
  /** Null when the endpoint needs no key. */
  readonly key: Secret | null;
  /** The time limit of one request, in milliseconds. */
  readonly timeoutMs: number;
}

/** An answer has a few numbers for each text. */
const maxAnswerBytes = 1024 * 1024;

export function createHttpReranker({ provider, broker, url, model, key, timeoutMs }: HttpRerankerDeps): Reranker {
  const { more } = rerankingProviders[provider];
  const target = new URL(`${withoutTrailingSlashes(url)}/rerank`);
  const policy: OutboundPolicy = {
    hosts: new Set([target.host]),
    schemes: new Set(['https', 'http']),
    credentials: new Map(key === null ? [] : [['key', key]]),
    inject:
      key === null ? [] : [{ in: 'header', name: 'authorization', credential: 'key', template: 'Bearer {credential}' }],
    maxResponseBytes: maxAnswerBytes,
    maxRedirects: 0,
    timeoutMs,
  };
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  return {
    model,
    async rank(question, documents, signal) {
      const body = JSON.stringify({ model, query: question, documents, top_n: documents.length, ...more });
      const result = await broker.send({ method: 'POST', url: target.href, headers, body }, policy, signal);
      return readScores(readResult(result), documents.length);
    },
    close: () => broker.close(),
  };
}

function readResult(result: EgressResult): Buffer {
  switch (result.kind) {
    case 'response':
      if (result.status === 200) return result.body;
      throw new RerankerUnavailable(
        `The reranking service answered with status ${result.status}.${remedyOf(result.status)}`,
      );
    case 'timed_out':
      throw new RerankerUnavailable(`The reranking service did not answer within ${result.limitMs} ms.`);
    case 'unreachable':
      throw new RerankerUnavailable(`The reranking service cannot be reached: ${result.message}.`);
    case 'refused':
    case 'too_large':
      throw new RerankerUnavailable(`The request to the reranking service failed: ${result.message}.`);
    case 'credentials_rejected':
      throw new RerankerUnavailable(`The reranking service answered with status ${result.status}.${remedyOf(401)}`);
  }
}

function remedyOf(status: number): string {
  if (status === 401 || status === 403) return ' Check QUARTERMASTER_RERANKER_KEY.';
  if (status === 404) return ' Check QUARTERMASTER_RERANKER_URL and QUARTERMASTER_RERANKER_MODEL.';
  return '';
}

/** A text without a score has none that can be compared, so the answer must name each text once. */
function readScores(body: Buffer, count: number): number[] {
  const answer = readJson(body);
  const results = isJsonObject(answer) ? answer.results : undefined;
  if (!Array.isArray(results)) throw invalid('it has no list `results`');
  const scores = new Map<number, number>();
  for (const result of results as unknown[]) {
    const { index, relevance_score: score } = isJsonObject(result) ? result : {};
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || scores.has(index))
      throw invalid('an index is missing, out of range or occurs twice');
    if (typeof score !== 'number' || !Number.isFinite(score)) throw invalid('a relevance_score is not a number');
    scores.set(index, score);
  }
  if (scores.size !== count) throw invalid(`it has ${scores.size} results for ${count} texts`);
  return Array.from({ length: count }, (_, index) => scores.get(index) ?? 0);
}

function readJson(body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    throw invalid('it is not JSON');
  }
}

function invalid(what: string): RerankerUnavailable {
  return new RerankerUnavailable(`The reranking service sent an invalid response: ${what}.`);
}
