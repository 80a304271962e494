import type { Setting } from './setting.ts';
import { anyText, isPlainUrl, oneOf, wholeNumber } from './setting-checks.ts';

/** The embedding provider and the memory of vector search. */
export const embeddingSettings = {
  EMBEDDING_PROVIDER: {
    description:
      'Where vectors of chunks come from: `none` (chunks are found by their words), `openai` (any service with OpenAI’s `/v1/embeddings`), or `onnx` (a model in a local folder, see docs/guides/embedding.md).',
    default: 'none',
    // A store of an earlier version may have been started with `hash`: it starts, and a warning names the remedy.
    check: (text) => (text === 'hash' ? null : oneOf(['none', 'openai', 'onnx'])(text)),
  },
  EMBEDDING_DIMENSIONS: {
    description: 'Dimensions of a vector. Unset: as many as the model has.',
    default: null,
    check: wholeNumber(8, 8192),
  },
  EMBEDDING_URL: {
    description:
      'Where `openai` finds the service, without `/embeddings`. It may be a private address, such as http://127.0.0.1:11434/v1.',
    default: 'https://api.openai.com/v1',
    check: (text) =>
      /^https?:\/\//.test(text) && isPlainUrl(text) ? null : 'is not an http or https URL without query',
  },
  EMBEDDING_MODEL: {
    description: 'Name of the model for `openai`. When it changes, collections keep their vectors until embedded anew.',
    default: 'text-embedding-3-small',
    check: anyText,
  },
  EMBEDDING_KEY: {
    description: 'Key for `openai`, sent as a bearer token. Unset: none is sent.',
    default: null,
    check: anyText,
    secret: true,
  },
  EMBEDDING_KEY_FILE: {
    description: 'A file that holds the key for `openai`, instead of EMBEDDING_KEY; read at start.',
    default: null,
    check: anyText,
  },
  EMBEDDING_FOLDER: {
    description: 'Folder of the model for `onnx`, with `model.onnx` and `tokenizer.json`.',
    default: null,
    check: anyText,
  },
  EMBEDDING_THREADS: {
    description: 'Processor threads of the model for `onnx`.',
    default: '1',
    check: wholeNumber(1, 256),
  },
  EMBEDDING_MEMORY_MB: {
    description:
      'Memory of the process that runs the model for `onnx`, in MiB; it is ended and started anew when it takes more.',
    default: '2048',
    check: wholeNumber(64, 1_048_576),
  },
  EMBEDDING_BATCH: {
    description: 'Texts in one request to the embedding service, or to the model for `onnx`.',
    default: '32',
    check: wholeNumber(1, 2048),
  },
  EMBEDDING_SECONDS: {
    description:
      'Seconds that one request to the embedding service may take, or the model for `onnx` may work without a sign of life.',
    default: '30',
    check: wholeNumber(1, 600),
  },
  VECTOR_MEMORY_MB: {
    description:
      'Memory for searching vectors, in MiB: one bit a dimension and chunk. The collections asked last are kept.',
    default: '256',
    check: wholeNumber(1, 65_536),
  },
} as const satisfies Record<string, Setting>;
