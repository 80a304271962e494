import type { Setting } from './setting.ts';
import { anyText, atMost, isPlainUrl, oneOf, wholeNumber } from './setting-checks.ts';

/** The providers that are services. `providers.ts` of the search module describes their APIs. */
export const embeddingProviderNames = [
  'openai',
  'azure',
  'ollama',
  'tei',
  'vllm',
  'cohere',
  'voyage',
  'gemini',
  'jina',
  'mistral',
] as const;

/** The maximum number of characters of a text before each text. */
const longestPrefix = 2000;

/** The embedding provider and the memory of vector search. */
export const embeddingSettings = {
  EMBEDDING_PROVIDER: {
    description:
      'Create the vectors of chunks with: `none` (no vectors; search uses words only), `openai` (any service with OpenAI’s `/v1/embeddings`), a provider by name (`azure`, `ollama`, `tei`, `vllm`, `cohere`, `voyage`, `gemini`, `jina`, `mistral`), or `onnx` (a model in a local folder). See docs/guides/embedding.md',
    default: 'none',
    check: oneOf(['none', ...embeddingProviderNames, 'onnx']),
  },
  EMBEDDING_DIMENSIONS: {
    description: 'Use vectors with this many dimensions. Unset: the dimensions of the model',
    default: null,
    check: wholeNumber(8, 8192),
  },
  EMBEDDING_URL: {
    description:
      'Send requests to this base URL of the provider, without `/embeddings`. Private addresses such as http://127.0.0.1:11434/v1 are allowed. Unset: the address that the provider documents; `azure` and `tei` have none',
    default: null,
    check: (text) =>
      /^https?:\/\//.test(text) && isPlainUrl(text) ? null : 'must be an http or https URL without query',
  },
  EMBEDDING_MODEL: {
    description:
      'Use this model of the provider. After a change, collections keep their vectors until they are embedded again. Unset: `text-embedding-3-small` with `openai`; other providers require a model',
    default: null,
    check: anyText,
  },
  EMBEDDING_KEY: {
    description: 'Send this key to the provider, in the header that it documents. Unset: no key',
    default: null,
    check: anyText,
    secret: true,
  },
  EMBEDDING_KEY_FILE: {
    description: 'Read EMBEDDING_KEY from this file at start',
    default: null,
    check: anyText,
  },
  EMBEDDING_MODELS_FILE: {
    description:
      'Keep further models in use, which this file lists in JSON. Collections whose vectors are of one of them are searched and embedded with it. See docs/guides/embedding.md',
    default: null,
    check: anyText,
  },
  EMBEDDING_QUERY_PREFIX: {
    description:
      'Put this text before each question that is embedded, such as `query: `. Not for `onnx`, whose folder states it. Unset: what the provider documents for the model',
    default: null,
    check: atMost(longestPrefix),
  },
  EMBEDDING_DOCUMENT_PREFIX: {
    description:
      'Put this text before each chunk that is embedded, such as `passage: `. Not for `onnx`, whose folder states it. A change counts as another model. Unset: what the provider documents for the model',
    default: null,
    check: atMost(longestPrefix),
  },
  EMBEDDING_FOLDER: {
    description: 'Load the model for `onnx` from this folder, which holds `model.onnx` and `tokenizer.json`',
    default: null,
    check: anyText,
  },
  EMBEDDING_THREADS: {
    description: 'Run the model for `onnx` with this many threads',
    default: '1',
    check: wholeNumber(1, 256),
  },
  EMBEDDING_MEMORY_MB: {
    description: 'Restart the process of the `onnx` model when it uses more than this many MiB of memory',
    default: '2048',
    check: wholeNumber(64, 1_048_576),
  },
  EMBEDDING_BATCH: {
    description: 'Send at most this many texts in one request to the embedding service or the `onnx` model',
    default: '32',
    check: wholeNumber(1, 2048),
  },
  EMBEDDING_PRICE: {
    description:
      'Estimate the cost of an embedding with this price of a million tokens, such as `0.02`, in any currency. Unset: estimates state no cost',
    default: null,
    check: (text) => (/^\d{1,6}(\.\d{1,6})?$/.test(text) ? null : 'must be a number such as 0.02'),
  },
  EMBEDDING_SECONDS: {
    description:
      'Abort a request to the embedding service after this many seconds, or restart the `onnx` model after this many seconds without progress',
    default: '30',
    check: wholeNumber(1, 600),
  },
  VECTOR_MEMORY_MB: {
    description:
      'Keep at most this many MiB of encoded vectors in memory, five bits per dimension. Words alone find the chunks of a collection that does not fit',
    default: '256',
    check: wholeNumber(1, 65_536),
  },
} as const satisfies Record<string, Setting>;

/** Returns what is missing or contradictory in the settings of `onnx`. The providers that are services are checked when they are opened. */
export function findMissingEmbedding(
  config: {
    readonly embeddingProvider: string;
    readonly embeddingFolder: string | null;
    readonly embeddingQueryPrefix: string | null;
    readonly embeddingDocumentPrefix: string | null;
  },
  prefix: string,
): string[] {
  if (config.embeddingProvider !== 'onnx') return [];
  const errors: string[] = [];
  if (config.embeddingFolder === null) {
    errors.push(`${prefix}EMBEDDING_PROVIDER is onnx: set ${prefix}EMBEDDING_FOLDER, too.`);
  }
  if (config.embeddingQueryPrefix !== null || config.embeddingDocumentPrefix !== null) {
    errors.push(
      `${prefix}EMBEDDING_QUERY_PREFIX and ${prefix}EMBEDDING_DOCUMENT_PREFIX have no effect with onnx. Set query_prefix and document_prefix in quartermaster.json of the model folder instead.`,
    );
  }
  return errors;
}
