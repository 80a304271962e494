import { logLevels } from './kernel/logger.ts';
import {
  anyText,
  checkBundleHosts,
  checkHostNames,
  checkNetworks,
  checkOverrides,
  checkPublishers,
  checkSealingKeys,
  isOrigin,
  isPlainUrl,
  oneOf,
  wholeNumber,
} from './setting-checks.ts';

/** One setting: `QUARTERMASTER_` + its key. `docs/reference/settings.md` is generated from this table. */
export interface Setting {
  readonly description: string;
  /** As written in the environment; null: unset has a meaning of its own, said in the description. */
  readonly default: string | null;
  /** What is wrong with a value, as the rest of a sentence that starts with it; null when it is right. */
  readonly check: (text: string) => string | null;
  /** Its value is never printed. */
  readonly secret?: true;
}

export const settings = {
  HOST: { description: 'Address both servers listen on.', default: '127.0.0.1', check: anyText },
  FILES_PORT: {
    description: 'Port of the files address; 0 takes a free one.',
    default: '8080',
    check: wholeNumber(0, 65_535),
  },
  PLUGINS_PORT: {
    description: 'Port of the plugins address; 0 takes a free one.',
    default: '8081',
    check: wholeNumber(0, 65_535),
  },
  SERVE: {
    description: 'Which addresses this process serves: `both`, `files` or `plugins`.',
    default: 'both',
    check: oneOf(['both', 'files', 'plugins']),
  },
  DATA: {
    description: 'Data folder: database, files, first key. Made when it is missing.',
    default: './data',
    check: anyText,
  },
  DATABASE_URL: {
    description: '`postgres://…` keeps the rows in PostgreSQL (15 or later). Unset: SQLite in the data folder.',
    default: null,
    check: (text) => (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? null : 'is not a postgres:// URL'),
    secret: true,
  },
  BUNDLES: {
    description: 'Further folders with bundles, separated by commas; each sub-folder is a bundle.',
    default: '',
    check: anyText,
  },
  INSTALLED_BUNDLES: {
    description:
      'Folder for bundles that `quartermaster bundle install` installs. Unset: `bundles` in the data folder. Made when it is missing.',
    default: null,
    check: anyText,
  },
  BUNDLE_PUBLISHERS: {
    description:
      'Public keys of publishers, separated by commas, whose bundles `quartermaster bundle install` takes; beside those of `quartermaster bundle trust`.',
    default: '',
    check: checkPublishers,
  },
  EGRESS_OVERRIDES: {
    description:
      'JSON object, origin → origin: calls to the first go to the second instead, such as {"https://api.example.com":"http://127.0.0.1:9000"}.',
    default: null,
    check: checkOverrides,
  },
  EGRESS_ALLOW: {
    description:
      'Addresses or networks (CIDR), separated by commas, that plugins may reach although they are not public.',
    default: '',
    check: checkNetworks,
  },
  BUNDLE_HOSTS: {
    description:
      'JSON object, bundle → hosts: where the bundles may call that leave this to the operator, such as {"http_request":["api.example.com","crm.example.com:8443"]}. Exact names; those of other bundles have no effect. Addresses that are not public need EGRESS_ALLOW as well.',
    default: null,
    check: checkBundleHosts,
  },
  PLUGINS_KEY: {
    description:
      'Whether the plugins address asks for a key: `required`, `off`, or `auto` (only when HOST is not a loopback address). A key that is sent is always checked.',
    default: 'auto',
    check: oneOf(['auto', 'required', 'off']),
  },
  PUBLIC_FILES_URL: {
    description:
      'Address under which people reach the files address and its console, such as `https://quartermaster.example.com`. With https the cookies of sessions are `Secure` and `__Host-`. Unset: made from HOST and FILES_PORT.',
    default: null,
    check: (text) => (isOrigin(text) ? null : 'is not an http or https origin without a path'),
  },
  PUBLIC_PLUGINS_URL: {
    description:
      'Address under which clients see the plugins address, for icon links. Unset: made from HOST and PLUGINS_PORT.',
    default: null,
    check: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? null : 'is not an http or https URL'),
  },
  MCP_HOSTS: {
    description:
      'Further host names, separated by commas, under which MCP clients reach the plugins address or whose web pages may call it. Loopback names, HOST and the host of PUBLIC_PLUGINS_URL are known already.',
    default: '',
    check: checkHostNames,
  },
  EMBEDDING_PROVIDER: {
    description:
      'Where vectors of chunks come from: `none` (chunks are found by their words), `hash` (vectors without a model: they forgive typing errors and know no meaning), `openai` (any service with OpenAI’s `/v1/embeddings`), or `onnx` (a model in a local folder, see docs/guides/embedding.md).',
    default: 'none',
    check: oneOf(['none', 'hash', 'openai', 'onnx']),
  },
  EMBEDDING_DIMENSIONS: {
    description: 'Dimensions of a vector. Unset: 512 for `hash`, as many as the model has for `openai` and `onnx`.',
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
  SEALING_KEY: {
    description:
      'Keys that seal credential profiles, base64 of 32 bytes each, separated by commas: the first seals, all of them open. `quartermaster profile new-key` makes one. Unset, and no SEALING_KEY_FILE: no profiles.',
    default: null,
    check: checkSealingKeys,
    secret: true,
  },
  SEALING_KEY_FILE: {
    description: 'File with such keys instead, one a line, the first to seal with.',
    default: null,
    check: anyText,
  },
  LOG_LEVEL: { description: `One of ${logLevels.join(', ')}.`, default: 'info', check: oneOf(logLevels) },
  MAX_FILE_BYTES: {
    description: 'Largest file that may be uploaded, in bytes.',
    default: String(512 * 1024 * 1024),
    check: wholeNumber(1, 5 * 1024 ** 3),
  },
  MAX_PROJECT_BYTES: {
    description: 'Bytes of files a project may keep. Unset: no quota.',
    default: null,
    check: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  },
  MIN_FREE_DISK_MB: {
    description:
      'While less is free on the disk of the data folder, in MiB, uploads are refused with INSUFFICIENT_STORAGE: the database needs room, too. 0: no such limit.',
    default: '256',
    check: wholeNumber(0, 1_000_000_000),
  },
  MAX_UPLOADS_IN_FLIGHT: {
    description: 'Uploads a project may have running at once.',
    default: '256',
    check: wholeNumber(1, 10_000),
  },
  UPLOAD_IDLE_SECONDS: {
    description: 'Seconds without a byte after which an upload is given up.',
    default: '30',
    check: wholeNumber(1, 3600),
  },
  EXTRACTION_PROCESSES: {
    description:
      'Documents read at the same time, each in a process of its own. Unset: the number of processors, at most 4.',
    default: null,
    check: wholeNumber(1, 64),
  },
  EXTRACTION_SECONDS: {
    description: 'Seconds that reading one document may take.',
    default: '120',
    check: wholeNumber(1, 3600),
  },
  EXTRACTION_MEMORY_MB: {
    description: 'Memory that reading one document may take, in MiB.',
    default: '1536',
    check: wholeNumber(128, 65_536),
  },
  ISOLATION: {
    description:
      'What isolates the handlers (code) of bundles: `auto` runs those shipped with the product in processes and those of BUNDLES in a sandbox, and refuses these where the machine cannot give one; `sandbox` asks for it for all; `process` runs all in processes, for bundles whose code you have read.',
    default: 'auto',
    check: oneOf(['auto', 'process', 'sandbox']),
  },
  CGROUP: {
    description:
      'Control groups of the kernel for the processes of handlers: `auto` gives each one of its own, with limits of memory, tasks and processor time, where the service may make them in the group it runs in (on version 2 it moves itself into a leaf of that); `off` leaves control groups alone.',
    default: 'auto',
    check: oneOf(['auto', 'off']),
  },
  PLUGIN_PROCESSES: {
    description:
      'Processes for the handlers of one bundle for one project; at most four times as many in all. Unset: the number of processors, from 2 to 8.',
    default: null,
    check: wholeNumber(1, 64),
  },
  PLUGIN_SECONDS: {
    description: 'Seconds a plugin may run, unless its bundle asks for less.',
    default: '30',
    check: wholeNumber(1, 600),
  },
  PLUGIN_MEMORY_MB: {
    description: 'Memory a handler may take, in MiB, unless its bundle asks for less.',
    default: '256',
    check: wholeNumber(64, 4096),
  },
  PLUGIN_CPU_SECONDS: {
    description: 'Seconds of processor time a handler may take, of all its threads, unless its bundle asks for less.',
    default: '10',
    check: wholeNumber(1, 600),
  },
  MAX_RUNS_OF_KEY: {
    description:
      'Runs of plugins that a key may have at once, waiting or running; one more is answered 429. Asynchronous ones are counted apart.',
    default: '128',
    check: wholeNumber(1, 10_000),
  },
  RUN_DAYS: {
    description: 'Days that records of runs are kept.',
    default: '30',
    check: wholeNumber(1, 3650),
  },
  MAX_RUNS: {
    description: 'Records of runs that a project keeps, the newest.',
    default: '100000',
    check: wholeNumber(1, 10_000_000),
  },
  RUN_RESULTS_MB: {
    description: 'Results of asynchronous runs that are kept, in MiB, of all projects together, the newest.',
    default: '256',
    check: wholeNumber(1, 65_536),
  },
  STOP_SECONDS: {
    description: 'Seconds that requests in flight get to finish when the service is told to stop.',
    default: '30',
    check: wholeNumber(0, 3600),
  },
} as const satisfies Record<string, Setting>;
