import { serve } from './http.ts';
import type { Ending } from './service.ts';

export interface EmbeddingService {
  /** The value of `QUARTERMASTER_EMBEDDING_URL`. */
  readonly url: string;
  /** Every embedded text in order. */
  readonly texts: readonly string[];
  /** Returns the texts of one model. */
  textsOf(model: string): readonly string[];
  /** Sets whether it answers with 503 from now on. */
  setDown(isDown: boolean): void;
  /** Sets the error that it answers with from now on; null for none. */
  setError(error: { readonly status: number; readonly message: string } | null): void;
}

interface EmbeddingServiceOptions {
  readonly embed: (text: string) => readonly number[];
  /** The required key; other keys get 401. Default: none is required. */
  readonly key?: string;
}

/** Starts a local server that answers as OpenAI's API reference shows for "Create embeddings". */
export async function startEmbeddingService(
  t: Ending,
  { embed, key }: EmbeddingServiceOptions,
): Promise<EmbeddingService> {
  const texts: string[] = [];
  const byModel = new Map<string, string[]>();
  let isDown = false;
  let failure: Parameters<EmbeddingService['setError']>[0] = null;
  const origin = await serve(t, async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    if (isDown) return void response.writeHead(503).end();
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`)
      return void response.writeHead(401).end();
    if (failure !== null) {
      const { status, message } = failure;
      return void response.writeHead(status).end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
    }
    const { input, model } = JSON.parse(body) as { input: string[]; model: string };
    texts.push(...input);
    const ofModel = byModel.get(model) ?? [];
    ofModel.push(...input);
    byModel.set(model, ofModel);
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: embed(text) }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } }));
  });
  return {
    url: `${origin}/v1`,
    texts,
    textsOf: (model) => byModel.get(model) ?? [],
    setDown: (down) => {
      isDown = down;
    },
    setError: (error) => {
      failure = error;
    },
  };
}
