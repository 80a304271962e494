import type { Broker, EgressPolicy, EgressResult } from '../execution/egress/broker.ts';
import { readRetryAfter } from '../kernel/retry-after.ts';
import type { Secret } from '../kernel/secret.ts';
import { type Embedder, EmbedderUnavailable } from './embedder.ts';
import { type Answer, createPatience } from './patience.ts';
import { readEmbeddings } from './read-embeddings.ts';

export interface OpenAiEmbedderDeps {
  /** Reaches the endpoint, wherever the operator has put it. */
  readonly broker: Broker;
  /** Without `/embeddings`, such as `https://api.openai.com/v1`. */
  readonly url: string;
  readonly model: string;
  /** null: the endpoint asks for none. */
  readonly key: Secret | null;
  /** Asked of the model; null: as many as it has. */
  readonly dimensions: number | null;
  readonly batchSize: number;
  /** Milliseconds for one request. */
  readonly timeoutMs: number;
  /** Milliseconds before the second try of a request; twice as long before each further one. */
  readonly backoffMs: number;
}

/** Of a text; more is cut off: models take some 8,000 tokens, and a character of Chinese may be one. */
const longestText = 8_000;
const attempts = 5;
const requestsAtOnce = 4;
const maxAnswerBytes = 64 * 1024 * 1024;
/** What the endpoint says about the texts; anything else below 500 is about us, and no text will help. */
const textRefused: ReadonlySet<number> = new Set([400, 413, 422]);

/** Any service with OpenAI's `POST /v1/embeddings`: OpenAI, vLLM, Ollama, Text Embeddings Inference and others. */
export function createOpenAiEmbedder(deps: OpenAiEmbedderDeps): Embedder {
  const { model, dimensions, batchSize } = deps;
  const ask = createAsk(deps);
  const patience = createPatience({ attempts, backoffMs: deps.backoffMs });

  /** Halves a batch that is refused until the text that is to blame stands alone. */
  async function embed(texts: readonly string[], signal: AbortSignal): Promise<Array<Float32Array | null>> {
    const answer = await patience.insist(() => ask(texts, signal), signal);
    if (answer !== 'refused') return answer;
    if (texts.length === 1) return [null];
    const half = Math.ceil(texts.length / 2);
    return [...(await embed(texts.slice(0, half), signal)), ...(await embed(texts.slice(half), signal))];
  }

  return {
    model: `openai:${model}${dimensions === null ? '' : `:${dimensions}`}`,
    weight: 1,
    batchSize,
    lanes: requestsAtOnce,
    embed: (texts, signal) => embed(texts.map(cut), signal),
    async embedQuestion(text, signal) {
      const answer = await ask([cut(text)], signal);
      if (answer === 'refused') throw new EmbedderUnavailable('the embedding service refuses the question');
      if ('retryAfterMs' in answer) throw new EmbedderUnavailable(answer.reason);
      const [vector] = answer;
      if (vector === undefined) throw new EmbedderUnavailable('the embedding service gave no vector');
      return vector;
    },
    close: () => deps.broker.close(),
  };
}

/** Never between the halves of a surrogate pair; a service may refuse an empty text and, with it, its neighbours. */
function cut(text: string): string {
  const bounded = text.length > longestText ? text.slice(0, longestText).toWellFormed() : text;
  return bounded.trim() === '' ? '.' : bounded;
}

/** One request. @throws EmbedderUnavailable when trying again will not help. */
function createAsk(deps: OpenAiEmbedderDeps) {
  const { url, model, dimensions, key, broker, timeoutMs } = deps;
  const target = new URL(`${url.replace(/\/+$/, '')}/embeddings`);
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
  const wish = { model, encoding_format: 'float', ...(dimensions === null ? {} : { dimensions }) };
  return async (texts: readonly string[], signal: AbortSignal): Promise<Answer<Float32Array[]>> => {
    const body = JSON.stringify({ ...wish, input: texts });
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
      return later(`the embedding service did not answer within ${result.limitMs} ms`);
    case 'unreachable':
      return later(`the embedding service cannot be reached: ${result.message}`);
    case 'refused':
    case 'too_large':
      throw new EmbedderUnavailable(`the embedding service cannot be used: ${result.message}`);
    case 'credentials_rejected':
      throw new EmbedderUnavailable(`the embedding service refused the key with status ${result.status}`);
  }
}

function judgeAnswer(answer: Extract<EgressResult, { kind: 'response' }>, count: number) {
  const { status, headers, body } = answer;
  if (status === 200) return readEmbeddings(body, count);
  if (textRefused.has(status)) return 'refused' as const;
  const reason = `the embedding service answered with status ${status}`;
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500) {
    return later(reason, headers['retry-after']);
  }
  throw new EmbedderUnavailable(reason);
}

function later(reason: string, retryAfter?: string) {
  return { reason, retryAfterMs: readRetryAfter(retryAfter) };
}
