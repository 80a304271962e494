import { Type } from 'typebox';
import { logLevels } from '../../platform/log/logger.ts';
import { advancedSettings } from './advanced-settings.ts';
import { choice, list, secret, unset, whole } from './setting.ts';
import { areEncryptionKeys, isNetwork, isPublicUrl } from './setting-checks.ts';

const publicUrl = {
  must: 'be an http or https URL without user, query and fragment. Its path may contain letters, digits, "-", ".", "_" and "~", such as https://example.com/quartermaster',
};

/** The services that create vectors. `providers.ts` of the search module describes their APIs. */
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

/** The settings that most installations need: the first page of `docs/reference/settings.md`. */
const firstSettings = {
  DATA: Type.String({
    description: 'Store the database, the files and the first key in this folder. It is created if it does not exist',
    default: './data',
    isPath: true,
  }),
  HOST: Type.String({
    description: 'Listen on this address with both servers',
    default: '127.0.0.1',
    pattern: '^[A-Za-z0-9._:%-]{1,255}$',
    must: 'be an IP address or a host name',
  }),
  FILES_PORT: whole([0, 65_535], 8080, 'Listen on this port for the files address; 0 selects a free port'),
  PLUGINS_PORT: whole([0, 65_535], 8081, 'Listen on this port for the plugins address; 0 selects a free port'),
  PUBLIC_FILES_URL: unset(
    Type.Refine(Type.String(), isPublicUrl),
    'Set the URL under which users reach the files address and its console, such as `https://quartermaster.example.com`. With https, session cookies are `Secure`, and `__Host-` or, below a path, `__Secure-`. A proxy must remove a path such as `/quartermaster` from requests. Unset: computed from HOST and FILES_PORT',
    publicUrl,
  ),
  PUBLIC_PLUGINS_URL: unset(
    Type.Refine(Type.String(), isPublicUrl),
    'Set the URL under which clients reach the plugins address, such as `https://plugins.example.com`, for links to icons and artifacts. A proxy must remove a path such as `/quartermaster-tools` from requests. If its host is not a loopback address, PLUGINS_KEY=auto requires a key. Unset: computed from HOST and PLUGINS_PORT',
    publicUrl,
  ),
  TRUSTED_PROXIES: list(
    isNetwork,
    'be a list of addresses or networks',
    'Accept `X-Forwarded-For` only from these proxy addresses and networks, separated by commas, such as `127.0.0.1, 10.0.0.0/8`. It gives the client address for sign-in limits and the log',
  ),
  DATABASE_URL: secret(
    'Use this PostgreSQL database (15 or later), `postgres://…`. Unset: SQLite in the data folder',
    (text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text),
    'be a postgres:// URL',
  ),
  SEALING_KEY: secret(
    'Encrypt stored credentials with these keys, separated by commas or on lines of their own, each the base64 encoding of 32 bytes. The first key encrypts; all keys decrypt. `quartermaster profile new-key` prints one. Unset: SQLite uses the file `encryption-key` in the data folder, created at the first start; with PostgreSQL there are no credential profiles',
    areEncryptionKeys,
    'be a list of keys, each the base64 encoding of 32 bytes',
  ),
  EMBEDDING_PROVIDER: choice(
    ['none', ...embeddingProviderNames, 'onnx'],
    'none',
    'Create the vectors of chunks with: `none` (no vectors; search uses words only), `openai` (any service with OpenAI’s `/v1/embeddings`), a provider by name (`azure`, `ollama`, `tei`, `vllm`, `cohere`, `voyage`, `gemini`, `jina`, `mistral`), or `onnx` (a model in a local folder). Unset: the model of `quartermaster embedding use`, otherwise `none`. See docs/guides/embedding.md',
  ),
  MAX_PROJECT_BYTES: unset(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    'Refuse uploads, records, chunks and collections (429), and end records in error, that would make the files and stored texts of a project larger than this many bytes. Names, metadata and reports count; the search index (about a third of the texts), vectors and the last evaluation of each collection (at most 256 KiB) do not. Unset: no quota',
    { unit: 'bytes' },
  ),
  LOG_LEVEL: choice(logLevels, 'info', `Log messages of this level and above: ${logLevels.join(', ')}`),
};

/** Every setting by its key. Everything that names, reads or documents settings uses this table. */
export const settings = { ...firstSettings, ...advancedSettings };

export const isOnFirstPage = (key: string) => Object.hasOwn(firstSettings, key);

/** Whether the key with `_FILE` after it names the file of a secret. */
export const isSecretFile = (key: string) =>
  Object.entries(settings).some(([name, schema]) => key === `${name}_FILE` && 'isSecret' in schema);
