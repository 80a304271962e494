const bearer = { header: 'Authorization', template: 'Bearer {credential}' } as const;

/** The answer of OpenAI's `POST /v1/embeddings`, which many others share. */
const openAiAnswer: EmbeddingAnswer = { vectors: ['data'], vector: 'embedding', tokens: ['usage', 'total_tokens'] };
const openAiBody = ({ model, texts, dimensions }: EmbeddingRequest) => ({
  model,
  encoding_format: 'float',
  dimensions,
  input: texts,
});

/** The Gemini models that read the use of a text from the text itself and accept no task type. */
const promptedGemini = 'gemini-embedding-2';

/** What most services have in common with OpenAI. */
const usual = {
  path: '/embeddings',
  model: null,
  key: bearer,
  maxTokens: null,
  body: openAiBody,
  answer: openAiAnswer,
} as const;

/** The embedding APIs that the setting EMBEDDING_PROVIDER names. */
export const embeddingProviders = {
  openai: {
    ...usual,
    title: 'OpenAI',
    sources: ['https://github.com/openai/openai-openapi openapi.json, schema CreateEmbeddingRequest'],
    url: 'https://api.openai.com/v1',
    model: 'text-embedding-3-small',
    maxTexts: 2048,
    maxTokens: 300_000,
  },
  azure: {
    ...usual,
    title: 'Azure OpenAI',
    sources: ['https://learn.microsoft.com/azure/foundry/openai/how-to/embeddings'],
    // Such as https://RESOURCE.openai.azure.com/openai/v1. The model is the name of the deployment.
    url: null,
    key: { header: 'api-key', template: '{credential}' },
    maxTexts: 2048,
    maxTokens: 300_000,
  },
  ollama: {
    ...usual,
    title: 'Ollama',
    sources: ['https://github.com/ollama/ollama docs/openapi.yaml, schema EmbedRequest'],
    url: 'http://127.0.0.1:11434',
    path: '/api/embed',
    // The document states no limit.
    maxTexts: 2048,
    body: ({ model, texts, dimensions }) => ({ model, input: texts, dimensions, truncate: true }),
    answer: { vectors: ['embeddings'], vector: null, tokens: ['prompt_eval_count'] },
  },
  tei: {
    ...usual,
    title: 'Text Embeddings Inference',
    sources: [
      'https://github.com/huggingface/text-embeddings-inference docs/openapi.json, schema EmbedRequest',
      'https://huggingface.co/docs/text-embeddings-inference/cli_arguments',
    ],
    url: null,
    path: '/embed',
    // The server has one model. The name tells its vectors from those of other models.
    // The default of --max-client-batch-size.
    maxTexts: 32,
    body: ({ texts, dimensions }) => ({ inputs: texts, dimensions, normalize: true, truncate: true }),
    answer: { vectors: [], vector: null, tokens: null },
  },
  vllm: {
    ...usual,
    title: 'vLLM',
    sources: ['https://github.com/vllm-project/vllm vllm/entrypoints/pooling/base/protocol.py'],
    url: 'http://127.0.0.1:8000/v1',
    // The document states no limit.
    maxTexts: 2048,
    // −1 truncates at the longest text of the model.
    body: (request) => ({ ...openAiBody(request), truncate_prompt_tokens: -1 }),
  },
  cohere: {
    ...usual,
    title: 'Cohere',
    sources: ['https://github.com/cohere-ai/cohere-developer-experience cohere-openapi.yaml, POST /v2/embed'],
    url: 'https://api.cohere.com/v2',
    path: '/embed',
    maxTexts: 96,
    body: ({ model, texts, use, dimensions }) => ({
      model,
      texts,
      input_type: use === 'question' ? 'search_query' : 'search_document',
      output_dimension: dimensions,
      embedding_types: ['float'],
      truncate: 'END',
    }),
    answer: { vectors: ['embeddings', 'float'], vector: null, tokens: ['meta', 'billed_units', 'input_tokens'] },
  },
  voyage: {
    ...usual,
    title: 'Voyage AI',
    sources: ['https://docs.voyageai.com/reference/embeddings-api', 'https://github.com/voyage-ai/openapi'],
    url: 'https://api.voyageai.com/v1',
    maxTexts: 1000,
    // The smallest limit of a model.
    maxTokens: 120_000,
    // `encoding_format` is null or `base64`, so it is not sent.
    body: ({ model, texts, use, dimensions }) => ({
      model,
      input: texts,
      input_type: use === 'question' ? 'query' : 'document',
      output_dimension: dimensions,
      truncation: true,
    }),
  },
  gemini: {
    ...usual,
    title: 'Gemini',
    sources: [
      'https://ai.google.dev/api/embeddings, models.batchEmbedContents',
      'https://ai.google.dev/gemini-api/docs/embeddings',
    ],
    url: 'https://generativelanguage.googleapis.com/v1beta',
    path: '/models/{model}:batchEmbedContents',
    key: { header: 'x-goog-api-key', template: '{credential}' },
    // The API's error message states the limit: "at most 100 requests can be in one batch".
    maxTexts: 100,
    body: ({ model, texts, use, dimensions }) => ({
      requests: texts.map((text) => ({
        model: `models/${model}`,
        content: { parts: [{ text }] },
        taskType: model.startsWith(promptedGemini)
          ? undefined
          : use === 'question'
            ? 'RETRIEVAL_QUERY'
            : 'RETRIEVAL_DOCUMENT',
        outputDimensionality: dimensions,
      })),
    }),
    answer: { vectors: ['embeddings'], vector: 'values', tokens: ['usageMetadata', 'promptTokenCount'] },
    prefixes: (model) =>
      model.startsWith(promptedGemini)
        ? { question: 'task: search result | query: ', chunk: 'title: none | text: ' }
        : { question: '', chunk: '' },
  },
  jina: {
    ...usual,
    title: 'Jina AI',
    sources: ['https://api.jina.ai/openapi.json', 'https://github.com/jina-ai/meta-prompt v14.txt'],
    url: 'https://api.jina.ai/v1',
    // The document states no limit.
    maxTexts: 512,
    body: ({ model, texts, use, dimensions }) => ({
      model,
      input: texts,
      task: use === 'question' ? 'retrieval.query' : 'retrieval.passage',
      dimensions,
      embedding_type: 'float',
      truncate: true,
    }),
  },
  mistral: {
    ...usual,
    title: 'Mistral AI',
    sources: [
      'https://docs.mistral.ai/api/endpoint/embeddings',
      'https://github.com/mistralai/client-ts src/models/components/embeddingrequest.ts',
    ],
    url: 'https://api.mistral.ai/v1',
    // Limits of the API's error messages: "Too many inputs in request", and "Too many tokens in batch. Max is 16384".
    maxTexts: 256,
    maxTokens: 16_384,
    body: ({ model, texts, dimensions }) => ({
      model,
      input: texts,
      output_dimension: dimensions,
      output_dtype: 'float',
      encoding_format: 'float',
    }),
  },
} as const satisfies Record<string, EmbeddingProvider>;

export type EmbeddingProviderName = keyof typeof embeddingProviders;

/** What a text is for. Some models embed questions and the texts that answer them differently. */
export type TextUse = 'chunk' | 'question';

interface EmbeddingRequest {
  readonly model: string;
  readonly texts: readonly string[];
  readonly use: TextUse;
  /** The requested dimensions; undefined for the model's default. */
  readonly dimensions: number | undefined;
}

/** Describes an embedding API as data. Every value comes from the provider's own documentation. */
export interface EmbeddingProvider {
  /** The name for people. */
  readonly title: string;
  /** The documents that the values come from. */
  readonly sources: readonly string[];
  /** The default base URL; null when the operator must set it. */
  readonly url: string | null;
  /** Follows the base URL. `{model}` is replaced. */
  readonly path: string;
  /** The default model; null when the operator must set it. */
  readonly model: string | null;
  /** The header that carries the key. `{credential}` is replaced. */
  readonly key: { readonly header: string; readonly template: string };
  /** The maximum number of texts in a request. */
  readonly maxTexts: number;
  /** The maximum number of tokens in a request, all texts together. Null: there is no limit. */
  readonly maxTokens: number | null;
  /** The body of a request. Undefined members are not sent. */
  readonly body: (request: EmbeddingRequest) => object;
  /** Where the answer contains what. */
  readonly answer: EmbeddingAnswer;
  /** The prefixes that a model requires, unless the operator sets others. Default: none. */
  readonly prefixes?: (model: string) => Readonly<Record<TextUse, string>>;
}

export interface EmbeddingAnswer {
  /** The path to the list of vectors. An empty path is the answer itself. */
  readonly vectors: readonly string[];
  /** The member of a list item that holds the vector. Null: the item is the vector. */
  readonly vector: string | null;
  /** The path to the number of tokens used; null when the answer does not state it. */
  readonly tokens: readonly string[] | null;
}
