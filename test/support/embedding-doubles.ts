import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { EmbeddingProviderName } from '../../packages/server/src/stores/search/embedding/providers/providers.ts';
import { serve } from './http.ts';
import type { Ending } from './service.ts';

/*
 * Local servers that accept exactly what the documents of the embedding providers describe. The schemas have every
 * documented member and no other. Each double cites its documents.
 */

// biome-ignore lint/suspicious/noExplicitAny: each double reads the members that its schema has checked
type Body = Record<string, any>;
type Vectors = readonly (readonly number[])[];

interface Double {
  /** The documents that the schema, the limits and the answers come from. */
  readonly sources: readonly string[];
  /** The path of the base URL that an operator sets, then the path of the request with `{model}`. */
  readonly base: string;
  readonly path: string;
  /** The header that must carry the key, and what stands before the key. */
  readonly header: readonly [name: string, prefix: string];
  readonly schema: (model: string) => TSchema;
  readonly maxTexts: number;
  readonly textsOf: (body: Body) => readonly string[];
  /** What the request says about the use of its texts; null where the API has no such member. */
  readonly useOf: (body: Body) => string | null;
  readonly dimensionsOf: (body: Body) => number | undefined;
  readonly answer: (vectors: Vectors, tokens: number, body: Body) => unknown;
  /** The status and the body of an error. */
  readonly refuse: (message: string) => readonly [status: number, body: unknown];
  readonly unauthorised: readonly [status: number, body: unknown];
}

const strict = { additionalProperties: false } as const;
const text = Type.String({ minLength: 1 });
const texts = (maxItems: number) => Type.Array(text, { minItems: 1, maxItems });
const positive = Type.Integer({ minimum: 1 });

const bearer = ['authorization', 'Bearer '] as const;
const openAiError = (message: string) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null },
});
const asOpenAi = {
  header: bearer,
  textsOf: (body: Body) => body.input as readonly string[], // the schema was checked
  useOf: () => null,
  dimensionsOf: (body: Body) => body.dimensions as number | undefined,
  answer: (vectors: Vectors, tokens: number, body: Body) => ({
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: body.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
  refuse: (message: string) => [400, openAiError(message)] as const,
  unauthorised: [401, openAiError('Incorrect API key provided')] as const,
};
const openAiMembers = (model: string) => ({
  model: Type.Literal(model),
  input: texts(2048),
  encoding_format: Type.Optional(Type.Enum(['float', 'base64'])),
  dimensions: Type.Optional(positive),
  user: Type.Optional(Type.String()),
});

export const embeddingDoubles: Readonly<Record<EmbeddingProviderName, Double>> = {
  openai: {
    ...asOpenAi,
    sources: ['openai/openai-openapi openapi.json: CreateEmbeddingRequest, CreateEmbeddingResponse, Embedding'],
    base: '/v1',
    path: '/v1/embeddings',
    schema: (model) => Type.Object(openAiMembers(model), strict),
    maxTexts: 2048,
  },
  azure: {
    ...asOpenAi,
    sources: [
      'learn.microsoft.com, Azure OpenAI embeddings: the header api-key, the v1 address, 2,048 texts, the deployment as model',
    ],
    base: '/openai/v1',
    path: '/openai/v1/embeddings',
    header: ['api-key', ''],
    schema: (model) => Type.Object(openAiMembers(model), strict),
    maxTexts: 2048,
    unauthorised: [401, { error: { code: '401', message: 'Access denied due to invalid subscription key' } }],
  },
  ollama: {
    sources: ['ollama/ollama docs/openapi.yaml: EmbedRequest, EmbedResponse'],
    base: '',
    path: '/api/embed',
    header: bearer,
    schema: (model) =>
      Type.Object(
        {
          model: Type.Literal(model),
          input: texts(1_000_000),
          truncate: Type.Optional(Type.Boolean()),
          dimensions: Type.Optional(positive),
          keep_alive: Type.Optional(Type.String()),
          options: Type.Optional(Type.Object({})),
        },
        strict,
      ),
    maxTexts: 1_000_000,
    textsOf: (body) => body.input,
    useOf: () => null,
    dimensionsOf: (body) => body.dimensions,
    answer: (vectors, tokens, { model }) => ({
      ...{ model, embeddings: vectors, total_duration: 14_143_917, load_duration: 1_019_500 },
      prompt_eval_count: tokens,
    }),
    refuse: (message) => [400, { error: message }],
    unauthorised: [401, { error: 'unauthorized' }],
  },
  tei: {
    sources: [
      'huggingface/text-embeddings-inference docs/openapi.json: EmbedRequest, EmbedResponse, ErrorResponse',
      'docs/source/en/cli_arguments.md: --max-client-batch-size, --api-key',
    ],
    base: '',
    path: '/embed',
    header: bearer,
    schema: () =>
      Type.Object(
        {
          inputs: Type.Array(text, { minItems: 1 }),
          dimensions: Type.Optional(positive),
          normalize: Type.Optional(Type.Boolean()),
          prompt_name: Type.Optional(Type.String()),
          truncate: Type.Optional(Type.Boolean()),
          truncation_direction: Type.Optional(Type.Enum(['Left', 'Right'])),
        },
        strict,
      ),
    maxTexts: 32,
    textsOf: (body) => body.inputs,
    useOf: () => null,
    dimensionsOf: (body) => body.dimensions,
    answer: (vectors) => vectors,
    refuse: (error) => [413, { error, error_type: 'Validation' }],
    unauthorised: [401, { error: 'Unauthorized', error_type: 'Unauthorized' }],
  },
  vllm: {
    ...asOpenAi,
    sources: ['vllm-project/vllm vllm/entrypoints/pooling/base/protocol.py, embed/openai_protocol.py'],
    base: '/v1',
    path: '/v1/embeddings',
    schema: (model) =>
      Type.Object(
        {
          ...openAiMembers(model),
          input: Type.Array(text, { minItems: 1 }),
          truncate_prompt_tokens: Type.Optional(Type.Integer({ minimum: -1 })),
          truncation_side: Type.Optional(Type.Enum(['left', 'right'])),
          add_special_tokens: Type.Optional(Type.Boolean()),
          priority: Type.Optional(Type.Integer()),
          request_id: Type.Optional(Type.String()),
          use_activation: Type.Optional(Type.Boolean()),
          embed_dtype: Type.Optional(Type.String()),
          endianness: Type.Optional(Type.String()),
        },
        strict,
      ),
    maxTexts: 1_000_000,
  },
  cohere: {
    sources: ['cohere-ai/cohere-developer-experience cohere-openapi.yaml: POST /v2/embed, EmbedByTypeResponse'],
    base: '/v2',
    path: '/v2/embed',
    header: bearer,
    schema: (model) =>
      Type.Object(
        {
          model: Type.Literal(model),
          texts: texts(96),
          input_type: Type.Enum(['search_document', 'search_query', 'classification', 'clustering', 'image']),
          max_tokens: Type.Optional(positive),
          output_dimension: Type.Optional(Type.Enum([256, 512, 1024, 1536])),
          embedding_types: Type.Optional(
            Type.Array(Type.Enum(['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64'])),
          ),
          truncate: Type.Optional(Type.Enum(['NONE', 'START', 'END'])),
          priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 999 })),
        },
        strict,
      ),
    maxTexts: 96,
    textsOf: (body) => body.texts,
    useOf: (body) => body.input_type,
    dimensionsOf: (body) => body.output_dimension,
    answer: (vectors, tokens, body) => ({
      ...{ id: 'da6e531f-54c5-4a73-bf92-f60566d8d753', response_type: 'embeddings_by_type', texts: body.texts },
      embeddings: { float: vectors },
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: tokens } },
    }),
    refuse: (message) => [400, { id: 'da6e531f', message }],
    unauthorised: [401, { id: 'da6e531f', message: 'invalid api token' }],
  },
  voyage: {
    ...asOpenAi,
    sources: [
      'docs.voyageai.com/reference/embeddings-api: 1,000 texts, 120,000 tokens',
      'voyage-ai/openapi voyage-openapi.yml: POST /embeddings',
    ],
    base: '/v1',
    path: '/v1/embeddings',
    schema: (model) =>
      Type.Object(
        {
          model: Type.Literal(model),
          input: texts(1000),
          input_type: Type.Optional(Type.Union([Type.Null(), Type.Enum(['query', 'document'])])),
          truncation: Type.Optional(Type.Boolean()),
          output_dimension: Type.Optional(Type.Union([Type.Null(), Type.Enum([256, 512, 1024, 2048])])),
          output_dtype: Type.Optional(Type.Enum(['float', 'int8', 'uint8', 'binary', 'ubinary'])),
          encoding_format: Type.Optional(Type.Union([Type.Null(), Type.Literal('base64')])),
        },
        strict,
      ),
    maxTexts: 1000,
    useOf: (body) => body.input_type,
    dimensionsOf: (body) => body.output_dimension,
    refuse: (detail) => [400, { detail }],
    unauthorised: [401, { detail: 'Provided API key is invalid.' }],
  },
  gemini: {
    sources: [
      'ai.google.dev/api/embeddings: models.batchEmbedContents, EmbedContentRequest, ContentEmbedding',
      'github.com/langchain-ai/langchainjs issue 4491: the limit of 100 requests, in the error of the API',
      'github.com/continuedev/continue issue 10290: status 400 for a bad key',
    ],
    base: '/v1beta',
    path: '/v1beta/models/{model}:batchEmbedContents',
    header: ['x-goog-api-key', ''],
    schema: (model) =>
      Type.Object(
        {
          requests: Type.Array(
            Type.Object(
              {
                model: Type.Literal(`models/${model}`),
                content: Type.Object(
                  {
                    parts: Type.Array(Type.Object({ text }, strict), { minItems: 1 }),
                    role: Type.Optional(Type.String()),
                  },
                  strict,
                ),
                taskType: Type.Optional(Type.Enum(['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'SEMANTIC_SIMILARITY'])),
                title: Type.Optional(Type.String()),
                outputDimensionality: Type.Optional(positive),
              },
              strict,
            ),
            { minItems: 1 },
          ),
        },
        strict,
      ),
    maxTexts: 100,
    textsOf: (body) => geminiRequests(body).map(({ content }) => content.parts.map((part) => part.text).join(' ')),
    useOf: (body) => geminiRequests(body)[0]?.taskType ?? null,
    dimensionsOf: (body) => geminiRequests(body)[0]?.outputDimensionality,
    answer: (vectors, tokens) => ({
      embeddings: vectors.map((values) => ({ values })),
      usageMetadata: { promptTokenCount: tokens },
    }),
    refuse: (message) => [400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
    unauthorised: [400, { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }],
  },
  jina: {
    ...asOpenAi,
    sources: ['jina-ai/meta-prompt v14.txt: POST /v1/embeddings', 'api.jina.ai/openapi.json: error codes'],
    base: '/v1',
    path: '/v1/embeddings',
    schema: (model) =>
      Type.Object(
        {
          model: Type.Literal(model),
          input: Type.Array(text, { minItems: 1 }),
          embedding_type: Type.Optional(Type.Enum(['float', 'base64', 'binary', 'ubinary'])),
          task: Type.Optional(
            Type.Enum(['retrieval.query', 'retrieval.passage', 'text-matching', 'classification', 'clustering']),
          ),
          dimensions: Type.Optional(positive),
          normalized: Type.Optional(Type.Boolean()),
          late_chunking: Type.Optional(Type.Boolean()),
          truncate: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
    maxTexts: 1_000_000,
    useOf: (body) => body.task,
    refuse: (detail) => [400, { detail }],
    unauthorised: [401, { detail: 'Invalid API key' }],
  },
  mistral: {
    ...asOpenAi,
    sources: [
      'mistralai/client-ts src/models/components/embeddingrequest.ts, embeddingresponse.ts',
      'github.com/aurelio-labs/semantic-router issue 297: 16,384 tokens in a request',
      'docs.rs/rig-core: 256 texts in a request',
    ],
    base: '/v1',
    path: '/v1/embeddings',
    schema: (model) =>
      Type.Object(
        {
          model: Type.Literal(model),
          input: Type.Array(text, { minItems: 1 }),
          metadata: Type.Optional(Type.Object({})),
          output_dimension: Type.Optional(positive),
          output_dtype: Type.Optional(Type.Enum(['float', 'int8', 'uint8', 'binary', 'ubinary'])),
          encoding_format: Type.Optional(Type.Enum(['float', 'base64'])),
        },
        strict,
      ),
    maxTexts: 256,
    dimensionsOf: (body) => body.output_dimension,
    refuse: (message) => [400, { object: 'error', message, type: 'invalid_request_error', param: null, code: null }],
    unauthorised: [401, { detail: 'Unauthorized' }],
  },
};

interface GeminiRequest {
  readonly content: { readonly parts: ReadonlyArray<{ readonly text: string }> };
  readonly taskType?: string;
  readonly outputDimensionality?: number;
}
function geminiRequests(body: Body): readonly GeminiRequest[] {
  return body.requests; // the schema was checked
}

export interface RunningDouble {
  /** The value of `QUARTERMASTER_EMBEDDING_URL`. */
  readonly url: string;
  readonly origin: string;
  /** The accepted requests. */
  readonly requests: ReadonlyArray<{ readonly texts: readonly string[]; readonly use: string | null }>;
  /** The messages of the refused requests. */
  readonly refused: readonly string[];
}

export interface DoubleOptions {
  /** Null: the double accepts requests without a key only. */
  readonly key: string | null;
  /** The only model that the double accepts. Default: `m`. */
  readonly model?: string;
  readonly embed: (text: string, dimensions: number) => readonly number[];
  /** Refuses requests with more tokens. Default: no limit. */
  readonly maxTokens?: number;
  /** Default: a token has four characters. */
  readonly countTokens?: (text: string) => number;
}

const quarter = (text: string) => Math.ceil(text.length / 4);

/** The dimensions of the vectors of a double, unless the request asks for others. */
export const doubleDimensions = 3;

export async function startEmbeddingDouble(
  t: Ending,
  name: EmbeddingProviderName,
  { key, embed, model = 'm', maxTokens = Number.POSITIVE_INFINITY, countTokens = quarter }: DoubleOptions,
): Promise<RunningDouble> {
  const double = embeddingDoubles[name];
  const schema = double.schema(model);
  const path = double.path.replace('{model}', model);
  const requests: Array<{ texts: readonly string[]; use: string | null }> = [];
  const refused: string[] = [];

  function handle(method: string, url: string, header: unknown, content: string): readonly [number, unknown] {
    const refuse = (message: string) => {
      refused.push(message);
      return double.refuse(message);
    };
    if (method !== 'POST' || url !== path) return [404, { error: 'Not Found' }];
    if (header !== (key === null ? undefined : double.header[1] + key)) return double.unauthorised;
    const body: unknown = JSON.parse(content);
    if (!Value.Check(schema, body)) {
      const [first] = Value.Errors(schema, body);
      return refuse(`${first?.instancePath ?? ''} ${first?.message ?? 'is invalid'}`.trim());
    }
    const checked = body as Body; // the schema describes it
    const received = double.textsOf(checked);
    if (received.length > double.maxTexts) return refuse(`at most ${double.maxTexts} texts can be in one request`);
    const tokens = received.reduce((sum, each) => sum + countTokens(each), 0);
    if (tokens > maxTokens) return refuse(`Too many tokens in batch. Max is ${maxTokens} got ${tokens}`);
    requests.push({ texts: received, use: double.useOf(checked) });
    const dimensions = double.dimensionsOf(checked) ?? doubleDimensions;
    return [
      200,
      double.answer(
        received.map((each) => embed(each, dimensions)),
        tokens,
        checked,
      ),
    ];
  }

  const origin = await serve(t, async (request, response) => {
    let content = '';
    for await (const part of request) content += part;
    const header = request.headers[double.header[0]];
    const [status, body] = handle(request.method ?? '', request.url ?? '', header, content);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  return { url: `${origin}${double.base}`, origin, requests, refused };
}
