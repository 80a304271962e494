import { withoutTrailingSlashes } from '@quartermaster/contract';
import type { Broker, EgressPolicy, EgressResult } from '../../egress/broker.ts';
import { readRetryAfter } from '../../kernel/retry-after.ts';
import type { Secret } from '../../kernel/secret.ts';
import { type Embedder, EmbedderUnavailable, type TextFailure } from './embedder.ts';
import { readEmbeddings } from './read-embeddings.ts';
import { type Answer, createRetryBackoff } from './retry-backoff.ts';

export interface OpenAiEmbedderDeps {
  /** Connects to the endpoint, as the operator has configured it. */
  readonly broker: Broker;
  /** The base URL without `/embeddings`, for example `https://api.openai.com/v1`. */
  readonly url: string;
  readonly model: string;
  /** Null when the endpoint needs no key. */
  readonly key: Secret | null;
  /** The dimensions requested from the model; null for the model's default. */
  readonly dimensions: number | null;
  readonly batchSize: number;
  /** The time limit of one request, in milliseconds. */
  readonly timeoutMs: number;
  /** The delay before the second attempt of a request, in milliseconds. It doubles with each further attempt. */
  readonly backoffMs: number;
}

/**
 * The maximum number of characters of a text. Models accept some 8,000 tokens, and a Chinese character may be one
 * token.
 */
const longestText = 8_000;
const attempts = 5;
const maxConcurrentRequests = 4;
const maxAnswerBytes = 64 * 1024 * 1024;
/** Either the texts or the configuration may be wrong. Any other status below 500 means a wrong configuration. */
const ambiguous: ReadonlySet<number> = new Set([400, 413, 422]);
/** A text that every model accepts. If it is refused, the configuration is wrong. */
const acceptableText = 'test';

type Embedded = Float32Array | TextFailure;

/** Any service with OpenAI's `POST /v1/embeddings`: OpenAI, vLLM, Ollama, Text Embeddings Inference and others. */
export function createOpenAiEmbedder(deps: OpenAiEmbedderDeps): Embedder {
  const { model, dimensions, batchSize } = deps;
  const ask = createAsk(deps);
  const retryBackoff = createRetryBackoff({ attempts, backoffMs: deps.backoffMs });

  /**
   * A text fails alone only if another one beside it is accepted. Services also answer 400 for a bad key, and 500 while
   * they fail for every text. Then no text is accepted, and the service or the configuration is to blame.
   */
  async function embed(texts: readonly string[], signal: AbortSignal): Promise<Embedded[]> {
    const answer = await retryBackoff.retry(() => ask(texts, signal), { signal });
    if (!('refusal' in answer)) return answer;
    const beside = await retryBackoff.retry(() => ask([acceptableText], signal), { signal, contentAttempts: 1 });
    if ('refusal' in beside) {
      throw new EmbedderUnavailable(answer.isPermanent ? `${answer.refusal} to every text` : answer.refusal);
    }
    return isolate(texts, signal);
  }

  /** Halves a refused batch until each refused text is alone; a single text is sent once more. */
  async function isolate(texts: readonly string[], signal: AbortSignal): Promise<Embedded[]> {
    const half = Math.ceil(texts.length / 2);
    const parts = texts.length === 1 ? [texts] : [texts.slice(0, half), texts.slice(half)];
    const embedded: Embedded[] = [];
    for (const part of parts) {
      const answer = await retryBackoff.retry(() => ask(part, signal), { signal, contentAttempts: 1 });
      if (!('refusal' in answer)) embedded.push(...answer);
      else if (part.length > 1) embedded.push(...(await isolate(part, signal)));
      else embedded.push({ reason: answer.refusal, isRefused: answer.isPermanent });
    }
    return embedded;
  }

  return {
    model: `openai:${model}${dimensions === null ? '' : `:${dimensions}`}`,
    batchSize,
    lanes: maxConcurrentRequests,
    embed: (texts, signal) => embed(texts.map(cut), signal),
    async embedQuestion(text, signal) {
      const answer = await ask([cut(text)], signal);
      if ('refusal' in answer) throw new EmbedderUnavailable(`${answer.refusal} to a query`);
      if ('retryAfterMs' in answer) throw new EmbedderUnavailable(answer.reason, answer.retryAfterMs);
      const [vector] = answer;
      if (vector === undefined)
        throw new EmbedderUnavailable('The embedding service returned no vector for the query.');
      return vector;
    },
    close: () => deps.broker.close(),
  };
}

/**
 * Truncates a text, but never within a surrogate pair. An empty text is replaced, because a service may refuse the
 * whole batch for it.
 */
function cut(text: string): string {
  const bounded = text.length > longestText ? text.slice(0, longestText).toWellFormed() : text;
  return bounded.trim() === '' ? '.' : bounded;
}

/** Sends one request. @throws EmbedderUnavailable when a retry cannot help. */
function createAsk(deps: OpenAiEmbedderDeps) {
  const { url, model, dimensions, key, broker, timeoutMs } = deps;
  const target = new URL(`${withoutTrailingSlashes(url)}/embeddings`);
  const policy: EgressPolicy = {
    hosts: new Set([target.host]),
    schemes: new Set(['https', 'http']),
    credentials: new Map(key === null ? [] : [['key', key]]),
    inject:
      key === null ? [] : [{ in: 'header', name: 'Authorization', credential: 'key', template: 'Bearer {credential}' }],
    maxResponseBytes: maxAnswerBytes,
    maxRedirects: 0,
    timeoutMs,
  };
  const parameters = { model, encoding_format: 'float', ...(dimensions === null ? {} : { dimensions }) };
  return async (texts: readonly string[], signal: AbortSignal): Promise<Answer<Float32Array[]>> => {
    const body = JSON.stringify({ ...parameters, input: texts });
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const result = await broker.send({ method: 'POST', url: target.href, headers, body }, policy, signal);
    return judge(result, texts.length);
  };
}

function judge(result: EgressResult, count: number): Answer<Float32Array[]> {
  switch (result.kind) {
    case 'response':
      return judgeAnswer(result, count);
    case 'timed_out':
      return later(`The embedding service did not answer within ${result.limitMs} ms`);
    case 'unreachable':
      return later(`The embedding service cannot be reached: ${result.message}.`);
    case 'refused':
    case 'too_large':
      throw new EmbedderUnavailable(`The request to the embedding service failed: ${result.message}.`);
    case 'credentials_rejected':
      throw new EmbedderUnavailable(
        `The embedding service rejected the API key with status ${result.status}. Check QUARTERMASTER_EMBEDDING_KEY.`,
      );
  }
}

function judgeAnswer(answer: Extract<EgressResult, { kind: 'response' }>, count: number) {
  const { status, headers, body } = answer;
  if (status === 200) return readEmbeddings(body, count);
  const reason = `The embedding service answered with status ${status}`;
  if (ambiguous.has(status)) return { refusal: `${reason}${excerptOf(body)}`, isPermanent: true };
  // Some services answer 500 to a text that they cannot process.
  if (status >= 500) return { ...later(reason, headers['retry-after']), mayConcernContent: true };
  if (status === 408 || status === 409 || status === 425 || status === 429)
    return later(reason, headers['retry-after']);
  throw new EmbedderUnavailable(reason);
}

const longestErrorBody = 16 * 1024;
const longestExcerpt = 200;

/** The message of an error as OpenAI shapes it, in brackets; empty when there is none. The broker has redacted the key. */
function excerptOf(body: Buffer): string {
  if (body.length > longestErrorBody) return '';
  try {
    const { error } = JSON.parse(body.toString('utf8')) as { error?: { message?: unknown } }; // checked below
    const message = error?.message;
    return typeof message === 'string' ? ` (${message.slice(0, longestExcerpt).toWellFormed()})` : '';
  } catch {
    return '';
  }
}

function later(reason: string, retryAfter?: string) {
  return { reason, retryAfterMs: readRetryAfter(retryAfter), mayConcernContent: false };
}
