import { createHash } from 'node:crypto';
import { withoutTrailingSlashes } from '@quartermaster/contract';
import type { EgressResult, Outbound, OutboundPolicy } from '../../../platform/outbound.ts';
import { readRetryAfter } from '../../../platform/retry-after.ts';
import type { Secret } from '../../../platform/secret.ts';
import type { CountTokens } from '../analysis/measure-text.ts';
import { type Embedder, EmbedderUnavailable, type OnTokens, type TextFailure } from './embedder.ts';
import type { EmbeddingProvider, TextUse } from './providers/providers.ts';
import { type EmbeddingProviderName, embeddingProviders } from './providers/providers.ts';
import { splitBatch } from './providers/split-batch.ts';
import { readEmbeddings } from './read-embeddings.ts';
import { type Answer, createRetryBackoff } from './retry-backoff.ts';

export interface HttpEmbedderDeps {
  readonly provider: EmbeddingProviderName;
  /** Connects to the endpoint, as the operator has configured it. */
  readonly broker: Outbound;
  /** The base URL, for example `https://api.openai.com/v1`. The provider's path follows. */
  readonly url: string;
  readonly model: string;
  /** Null when the endpoint needs no key. */
  readonly key: Secret | null;
  /** The dimensions requested from the model; null for the model's default. */
  readonly dimensions: number | null;
  /** The texts put before each text. Null: what the provider requires. */
  readonly prefixes: Readonly<Record<TextUse, string | null>>;
  readonly batchSize: number;
  readonly countTokens: CountTokens;
  /** The time limit of one request, in milliseconds. */
  readonly timeoutMs: number;
  /** The delay before the second attempt of a request, in milliseconds. It doubles with each further attempt. */
  readonly backoffMs: number;
  /** Called with the tokens of each answered request, if the service states them. */
  readonly onTokens?: (use: TextUse, tokens: number) => void;
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

/** Sends texts to one of the APIs in `providers/providers.ts`. */
export function createHttpEmbedder(deps: HttpEmbedderDeps): Embedder {
  const provider: EmbeddingProvider = embeddingProviders[deps.provider];
  const { countTokens } = deps;
  const ask = createAsk(deps, provider);
  const prefixes = choosePrefixes(deps, provider);
  const limits = { ...provider, maxTexts: Math.min(deps.batchSize, provider.maxTexts) };
  const retryBackoff = createRetryBackoff({ attempts, backoffMs: deps.backoffMs });

  /**
   * A text fails alone only if another one beside it is accepted. Services also answer 400 for a bad key, and 500 while
   * they fail for every text. Then no text is accepted, and the service or the configuration is to blame.
   */
  async function embed(texts: readonly string[], call: Call): Promise<Embedded[]> {
    const { signal } = call;
    const answer = await retryBackoff.retry(() => ask(texts, 'chunk', call), { signal });
    if (!('refusal' in answer)) return answer;
    const beside = await retryBackoff.retry(() => ask([acceptableText], 'chunk', call), { signal, contentAttempts: 1 });
    if ('refusal' in beside) {
      throw new EmbedderUnavailable(answer.isPermanent ? `${answer.refusal} to every text` : answer.refusal);
    }
    return isolate(texts, call);
  }

  /** Halves a refused batch until each refused text is alone; a single text is sent once more. */
  async function isolate(texts: readonly string[], call: Call): Promise<Embedded[]> {
    const { signal } = call;
    const half = Math.ceil(texts.length / 2);
    const parts = texts.length === 1 ? [texts] : [texts.slice(0, half), texts.slice(half)];
    const embedded: Embedded[] = [];
    for (const part of parts) {
      const answer = await retryBackoff.retry(() => ask(part, 'chunk', call), { signal, contentAttempts: 1 });
      if (!('refusal' in answer)) embedded.push(...answer);
      else if (part.length > 1) embedded.push(...(await isolate(part, call)));
      else embedded.push({ reason: answer.refusal, isRefused: answer.isPermanent });
    }
    return embedded;
  }

  return {
    model: identify(deps, prefixes.chunk),
    batchSize: limits.maxTexts,
    lanes: maxConcurrentRequests,
    async embed(texts, signal, { onTokens } = {}) {
      const prepared = texts.map((text) => prefixes.chunk + cut(text));
      const embedded: Embedded[] = [];
      for (const batch of await splitBatch(prepared, limits, countTokens)) {
        embedded.push(...(await embed(batch, { signal, onTokens })));
      }
      return embedded;
    },
    async embedQuestion(text, signal) {
      const answer = await ask([prefixes.question + cut(text)], 'question', { signal });
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

function choosePrefixes({ prefixes, model }: HttpEmbedderDeps, provider: EmbeddingProvider): Record<TextUse, string> {
  const required = provider.prefixes?.(model) ?? { chunk: '', question: '' };
  return { chunk: prefixes.chunk ?? required.chunk, question: prefixes.question ?? required.question };
}

/** Names everything that changes the vectors of chunks. A prefix is named by its hash. */
function identify({ provider, model, dimensions }: HttpEmbedderDeps, prefix: string): string {
  const hash = prefix === '' ? [] : [createHash('sha256').update(prefix).digest('hex').slice(0, 12)];
  return [provider, model, ...(dimensions === null ? [] : [dimensions]), ...hash].join(':');
}

/**
 * Truncates a text, but never within a surrogate pair. An empty text is replaced, because a service may refuse the
 * whole batch for it.
 */
function cut(text: string): string {
  const bounded = text.length > longestText ? text.slice(0, longestText).toWellFormed() : text;
  return bounded.trim() === '' ? '.' : bounded;
}

interface Call {
  readonly signal: AbortSignal;
  readonly onTokens?: OnTokens | undefined;
}

type Ask = (texts: readonly string[], use: TextUse, call: Call) => Promise<Answer<Float32Array[]>>;

/** Sends one request. @throws EmbedderUnavailable when a retry cannot help. */
function createAsk(deps: HttpEmbedderDeps, provider: EmbeddingProvider): Ask {
  const { url, model, key, broker, timeoutMs, onTokens } = deps;
  const path = provider.path.replace('{model}', encodeURIComponent(model));
  const target = new URL(`${withoutTrailingSlashes(url)}${path}`);
  const { header, template } = provider.key;
  const policy: OutboundPolicy = {
    hosts: new Set([target.host]),
    schemes: new Set(['https', 'http']),
    credentials: new Map(key === null ? [] : [['key', key]]),
    inject: key === null ? [] : [{ in: 'header', name: header, credential: 'key', template }],
    maxResponseBytes: maxAnswerBytes,
    maxRedirects: 0,
    timeoutMs,
  };
  const dimensions = deps.dimensions ?? undefined;
  return async (texts, use, call) => {
    const body = JSON.stringify(provider.body({ model, texts, use, dimensions }));
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const result = await broker.send({ method: 'POST', url: target.href, headers, body }, policy, call.signal);
    const answer = readResult(result);
    if (!Buffer.isBuffer(answer)) return answer;
    const { vectors, tokens } = readEmbeddings(answer, texts.length, provider.answer);
    if (tokens !== null) {
      onTokens?.(use, tokens);
      call.onTokens?.(tokens);
    }
    return vectors;
  };
}

/** The body of a successful answer, or why there is none. */
function readResult(result: EgressResult): Answer<Buffer> {
  switch (result.kind) {
    case 'response':
      return readStatus(result);
    case 'timed_out':
      return later(`The embedding service did not answer within ${result.limitMs} ms`);
    case 'unreachable':
      if (result.redirectOrigin !== undefined) throw redirected(result.redirectOrigin);
      return later(`The embedding service cannot be reached: ${result.message}.`);
    case 'refused':
    case 'too_large':
      throw new EmbedderUnavailable(`The request to the embedding service failed: ${result.message}.`);
    case 'credentials_rejected':
      throw keyRejected(result.status);
  }
}

/** A redirect is a mistake of the configuration: the key and the texts go to the configured address only. */
function redirected(origin: string): EmbedderUnavailable {
  return new EmbedderUnavailable(
    `The embedding service redirects to ${origin}, and redirects are not followed. Check QUARTERMASTER_EMBEDDING_URL.`,
  );
}

function keyRejected(status: number): EmbedderUnavailable {
  return new EmbedderUnavailable(
    `The embedding service rejected the API key with status ${status}. Check QUARTERMASTER_EMBEDDING_KEY.`,
  );
}

function readStatus({ status, headers, body }: Extract<EgressResult, { kind: 'response' }>): Answer<Buffer> {
  if (status === 200) return body;
  if (status === 401 || status === 403) throw keyRejected(status);
  const reason = `The embedding service answered with status ${status}${excerptOf(body)}`;
  if (ambiguous.has(status)) return { refusal: reason, isPermanent: true };
  // Some services answer 500 to a text that they cannot process, and Text Embeddings Inference answers 424.
  if (status >= 500 || status === 424) return { ...later(reason, headers['retry-after']), mayConcernContent: true };
  if (status === 408 || status === 409 || status === 425 || status === 429)
    return later(reason, headers['retry-after']);
  if (status === 404) {
    throw new EmbedderUnavailable(`${reason}. Check QUARTERMASTER_EMBEDDING_URL and QUARTERMASTER_EMBEDDING_MODEL.`);
  }
  throw new EmbedderUnavailable(reason);
}

const longestErrorBody = 16 * 1024;
const longestExcerpt = 200;

/**
 * The message of an error, in brackets; empty when there is none. It is a text below `error.message`, `error`, `message`
 * or `detail`. The broker has redacted the key.
 */
function excerptOf(body: Buffer): string {
  if (body.length > longestErrorBody) return '';
  try {
    const answer: { error?: { message?: unknown } | string; message?: unknown; detail?: unknown } = JSON.parse(
      body.toString('utf8'),
    ); // checked below
    const { error, message, detail } = answer;
    const nested = typeof error === 'object' ? error?.message : error;
    const text = [nested, message, detail].find((each) => typeof each === 'string');
    return typeof text === 'string' ? ` (${text.slice(0, longestExcerpt).toWellFormed()})` : '';
  } catch {
    return '';
  }
}

function later(reason: string, retryAfter?: string) {
  return { reason, retryAfterMs: readRetryAfter(retryAfter), mayConcernContent: false };
}
