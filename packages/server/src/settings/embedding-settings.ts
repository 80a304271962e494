import type { Setting } from './setting.ts';
import { anyText, isPlainUrl, oneOf, wholeNumber } from './setting-checks.ts';

/** The embedding provider and the memory of vector search. */
export const embeddingSettings = {
  EMBEDDING_PROVIDER: {
    description:
      'Create the vectors of chunks with: `none` (no vectors; search uses words only), `openai` (any service with OpenAI’s `/v1/embeddings`), or `onnx` (a model in a local folder, see docs/guides/embedding.md)',
    default: 'none',
    // A store of an earlier version may be configured with `hash`. It starts, and a warning names the remedy.
    check: oneOf(['none', 'openai', 'onnx'], ['hash']),
  },
  EMBEDDING_DIMENSIONS: {
    description: 'Use vectors with this many dimensions. Unset: the dimensions of the model',
    default: null,
    check: wholeNumber(8, 8192),
  },
  EMBEDDING_URL: {
    description:
      'Send requests of `openai` to this base URL, without `/embeddings`. Private addresses such as http://127.0.0.1:11434/v1 are allowed',
    default: 'https://api.openai.com/v1',
    check: (text) =>
      /^https?:\/\//.test(text) && isPlainUrl(text) ? null : 'must be an http or https URL without query',
  },
  EMBEDDING_MODEL: {
    description:
      'Use this model for `openai`. After a change, collections keep their vectors until they are embedded again',
    default: 'text-embedding-3-small',
    check: anyText,
  },
  EMBEDDING_KEY: {
    description: 'Send this key as a bearer token to the service of `openai`. Unset: no key',
    default: null,
    check: anyText,
    secret: true,
  },
  EMBEDDING_KEY_FILE: {
    description: 'Read EMBEDDING_KEY from this file at start',
    default: null,
    check: anyText,
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
  EMBEDDING_SECONDS: {
    description:
      'Abort a request to the embedding service after this many seconds, or restart the `onnx` model after this many seconds without progress',
    default: '30',
    check: wholeNumber(1, 600),
  },
  VECTOR_MEMORY_MB: {
    description:
      'Keep at most this many MiB of vectors in memory, one bit per dimension and chunk. The least recently queried collections are removed first',
    default: '256',
    check: wholeNumber(1, 65_536),
  },
} as const satisfies Record<string, Setting>;
