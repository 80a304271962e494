import { Type } from 'typebox';
import { readRoleRule } from '../../access/sign-in/claimed-access.ts';
import { isObjectStorage } from './object-storage.ts';
import { choice, isText, list, map, path, secret, text, unset, whole } from './setting.ts';
import {
  isContact,
  isHost,
  isHostName,
  isIssuer,
  isLanguage,
  isNetwork,
  isOrigin,
  isRegistry,
  isServiceUrl,
  isToolName,
} from './setting-checks.ts';

const serviceUrl = Type.Refine(Type.String(), isServiceUrl);
const mustBeServiceUrl = { must: 'be an http or https URL without query' };
const mustBeShort = { must: 'have at most 2000 characters' };
/** The providers, whose APIs `http-reranker.ts` describes. */
export const rerankerProviderNames = ['cohere', 'jina'] as const;

const addresses = {
  SERVE: choice(
    ['both', 'files', 'plugins'],
    'both',
    'Serve these addresses in this process: `both`, `files` or `plugins`',
  ),
  PLUGINS_KEY: choice(
    ['auto', 'required', 'off'],
    'auto',
    'Require an API key on the plugins address: `required`, `off`, or `auto` (required unless HOST and the host of PUBLIC_PLUGINS_URL are loopback addresses). A key in a request is always checked. Requests without a key must use a known host name (MCP_HOSTS) and must not come from pages of other sites',
  ),
  MCP_HOSTS: list(
    isHostName,
    'be a list of host names without ports',
    'Allow these additional host names, separated by commas, in requests without a key to the plugins address, and allow their web pages to call it. Loopback names, HOST and the host of PUBLIC_PLUGINS_URL are always allowed',
  ),
  MCP_LIST_TOKENS: whole(
    [0, 100_000_000],
    4000,
    'List the plugins that can work now at `/mcp` while their definitions have at most this many tokens, of four bytes each. Above it, list tools that search for plugins and call them. URLs that choose tools are not affected',
  ),
  MCP_TOOLSETS: map<readonly string[]>(
    [isToolName, Type.Array(Type.Refine(Type.String(), isToolName))],
    'be a JSON object of lists of names, such as \'{"office":["gmail","slack__post_message"]}\', in single quotes in a shell',
    'Define sets of tools for `/mcp?toolset=`, as a JSON object such as \'{"office":["gmail","slack__post_message"]}\' (with the quotes in a shell). Each set lists ids of bundles and names of tools',
  ),
  CORS_ORIGINS: list(
    isOrigin,
    'be a list of origins such as https://app.example.com',
    'Allow web pages of these origins, separated by commas, to call both addresses with a key in the `Authorization` header, such as `https://app.example.com`, and let the browsers of end users return to them after an account is connected. Their cookies are never accepted',
  ),
  DRAIN_SECONDS: unset(
    Type.Integer({ minimum: 0, maximum: 3600 }),
    'Keep serving for this many seconds after a stop signal, so that load balancers and clients move on: readiness is 503 and each response closes its connection. Unset: 0 on a terminal, otherwise 5',
    { unit: 'seconds' },
  ),
  STOP_SECONDS: whole(
    [0, 3600],
    30,
    'Wait this many seconds for requests in progress after the addresses are closed, then abort them',
    'seconds',
  ),
  WATCHDOG_SECONDS: whole(
    [0, 3600],
    60,
    'Exit with code 70 after the event loop was blocked for this many seconds, so that a supervisor restarts the process. It logs `event loop blocked`. 0: never',
    'seconds',
  ),
};

const firstStart = {
  FIRST_KEY: secret(
    'Use this text as the first API key of a new installation; `quartermaster key generate` prints one. Later starts ignore it. Unset: the first start creates a key and writes it to `first-key` in the data folder',
  ),
  ADMINISTRATOR_PASSWORD: secret(
    'Set the password of the console administrator, `administrator`, that the first start creates. The password of an existing administrator stays. Unset: the start prints a setup link',
  ),
};

const people = {
  OIDC_ISSUER: unset(
    Type.Refine(Type.String(), isIssuer),
    'Let people sign in with this OpenID Connect provider, such as `https://accounts.google.com`. Plain http is allowed on a loopback address. If the address of the provider is not public, EGRESS_ALLOW must allow it. Unset: people sign in with the password only. See docs/guides/sign-in.md',
    {
      must: 'be the https URL of an issuer without query, or an http URL on a loopback address. For Microsoft Entra ID it names one tenant, not common, organizations, consumers or {tenantid}',
    },
  ),
  OIDC_CLIENT_ID: text('Sign in as this client of the provider. Required with OIDC_ISSUER'),
  OIDC_CLIENT_SECRET: secret('Authenticate the client with this secret. Unset: a public client, with PKCE only'),
  OIDC_ALLOWED_DOMAINS: list(
    isHostName,
    'be a list of domains such as example.com',
    'Create an account for everyone who signs in with a verified e-mail address of these domains, separated by commas. Such an account sees no project until an administrator adds it. Empty: only OIDC_ROLES lets new people in',
  ),
  OIDC_ROLES_CLAIM: text(
    'Read the values of OIDC_ROLES from this claim of the ID token or of the UserInfo endpoint, such as `groups`. Required with OIDC_ROLES',
  ),
  OIDC_ROLES: list(
    (item) => readRoleRule(item) !== null,
    'be a list such as writers=tea:member, staff=*:viewer, operators=administrator. The roles are administrator, member and viewer',
    'Give people with these values of the claim a role at every sign-in, separated by commas: `value=project:role` with the name or id of a project, or `*` for all; `value=administrator` makes an administrator of the service. The roles are `administrator`, `member` and `viewer`',
  ),
};

const store = {
  BLOBS: unset(
    Type.Refine(Type.String(), isObjectStorage),
    'Store the content of files in this bucket of an S3 service, `s3://bucket/prefix`, from the first start on. The content of deleted files stays there for 30 days, so that backups can be restored; `?keep_deleted_days=` after the prefix sets 1 to 9999 days. The variables `AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` and `AWS_S3_FORCE_PATH_STYLE` apply. See docs/guides/operating.md. Unset: the data folder',
    { must: 'be a place such as s3://bucket/prefix' },
  ),
  DATABASE_CONNECTIONS: whole(
    [2, 1000],
    10,
    'Open at most this many connections to PostgreSQL in this process; one of them is reserved for heartbeats and leases. The sum over all processes, plus two for each command, must be below `max_connections` of the server',
  ),
  DATABASE_DURABILITY: choice(
    ['local', 'standby'],
    'local',
    'Require PostgreSQL to store each commit before it acknowledges it: `local` on the disk of the server; `standby` also on a synchronous standby (`synchronous_standby_names` is set and `synchronous_commit` is `on` or `remote_apply`). The service does not start with a server that is configured differently',
  ),
  MAX_FILE_BYTES: whole(
    [1, 5 * 1024 ** 3],
    512 * 1024 * 1024,
    'Refuse uploads of files larger than this many bytes (413)',
    'bytes',
  ),
  MAX_FILES: whole([1, 1_000_000_000], 1_000_000, 'Refuse uploads (429) when a project has this many files'),
  MAX_RECORDS: whole([1, 100_000_000], 1_000_000, 'Refuse new records (429) when a collection has this many'),
  MIN_FREE_DISK_MB: whole(
    [0, 1_000_000_000],
    256,
    'Refuse uploads with INSUFFICIENT_STORAGE while less than this many MiB are free on the disk of the data folder. With SQLite, records wait and runs are refused while less than half of it, or less than 16 MiB, is free. 0: refuse uploads only while the reserved space, the file `ballast`, is in use',
    'MiB',
  ),
  MAX_UPLOADS_IN_FLIGHT: whole(
    [1, 10_000],
    256,
    'Refuse uploads (429) while this many uploads of the key are in progress. A project has at most twice as many, and all projects together four times as many. Nodes share these numbers',
  ),
};

const documents = {
  EXTRACTION_PROCESSES: unset(
    Type.Integer({ minimum: 1, maximum: 64 }),
    'Read at most this many documents at the same time, each in its own process. One additional process is kept for a project, and one for a key, that has no document in progress. Unset: the number of processors, at most 4',
  ),
  EXTRACTION_SECONDS: whole(
    [1, 3600],
    120,
    'Stop reading a document after this many seconds; its record fails with `time_limit`',
    'seconds',
  ),
  OCR: choice(
    ['auto', 'on', 'off'],
    'auto',
    'Read scanned pages of PDF documents with tesseract: `auto` reads them if the program is installed; `on` refuses to start without it; `off` reads none',
  ),
  OCR_LANGUAGES: Type.Array(Type.Refine(Type.String(), isLanguage), {
    description:
      'Read scanned pages in these languages of tesseract, at most 4, separated by commas, such as `deu,eng`. Each needs its language data. For a language in another script, add `eng` if its pages contain Latin words',
    default: ['eng'],
    maxItems: 4,
    must: 'be at most 4 names of language data such as deu,eng',
  }),
};

const search = {
  EMBEDDING_DIMENSIONS: unset(
    Type.Integer({ minimum: 8, maximum: 8192 }),
    'Use vectors with this many dimensions. Unset: the dimensions of the model',
  ),
  EMBEDDING_URL: unset(
    serviceUrl,
    'Send requests to this base URL of the provider, without `/embeddings`. Private addresses such as http://127.0.0.1:11434/v1 are allowed. Unset: the address that the provider documents; `azure` and `tei` have none',
    mustBeServiceUrl,
  ),
  EMBEDDING_MODEL: text(
    'Use this model of the provider; with `onnx`, the folder that holds `model.onnx` and `tokenizer.json`. After a change, collections keep their vectors until they are embedded again. Unset: `text-embedding-3-small` with `openai`; other providers require a model',
  ),
  EMBEDDING_KEY: secret('Send this key to the provider, in the header that it documents. Unset: no key'),
  EMBEDDING_MODELS_FILE: path(
    'Keep further models in use, which this file lists in JSON. Collections whose vectors are of one of them are searched and embedded with it. See docs/guides/embedding.md',
  ),
  EMBEDDING_QUERY_PREFIX: unset(
    Type.String({ maxLength: 2000 }),
    'Put this text before each question that is embedded, such as `query: `. Not for `onnx`, whose folder states it. Unset: what the provider documents for the model',
    mustBeShort,
  ),
  EMBEDDING_DOCUMENT_PREFIX: unset(
    Type.String({ maxLength: 2000 }),
    'Put this text before each chunk that is embedded, such as `passage: `. Not for `onnx`, whose folder states it. A change counts as another model. Unset: what the provider documents for the model',
    mustBeShort,
  ),
  EMBEDDING_THREADS: whole([1, 256], 1, 'Run the model for `onnx` with this many threads'),
  EMBEDDING_PRICE: unset(
    Type.Number({ minimum: 0, maximum: 999_999 }),
    'Estimate the cost of an embedding with this price of a million tokens, such as `0.02`, in any currency. Unset: estimates state no cost',
    { must: 'be a number such as 0.02' },
  ),
  VECTOR_MEMORY_MB: whole(
    [1, 65_536],
    256,
    'Keep at most this many MiB of encoded vectors in memory, five bits per dimension. Words alone find the chunks of a collection that does not fit',
    'MiB',
  ),
  RERANKER_PROVIDER: choice(
    ['none', ...rerankerProviderNames],
    'none',
    'Sort the best results of questions that ask for it with: `none`, `cohere`, `jina`, or a service with the `/rerank` of one of them. Question and texts are sent to it',
  ),
  RERANKER_URL: unset(
    serviceUrl,
    'Send requests to this base URL of the service, without `/rerank`. Private addresses are allowed. Unset: the address that the provider documents',
    mustBeServiceUrl,
  ),
  RERANKER_MODEL: text('Use this model of the service, such as `rerank-v3.5`. Required with a provider'),
  RERANKER_KEY: secret('Send this key to the service, as a bearer token. Unset: no key'),
};

const plugins = {
  BUNDLES: Type.Array(Type.String(), {
    description: 'Load bundles from these additional folders, separated by commas; each subfolder is a bundle',
    default: [],
    isPath: true,
  }),
  PACKAGE_REGISTRY: secret(
    'Download packages of pieces from this registry of npm, such as `https://npm.example.com`. A token for it stands before the host, `https://TOKEN@npm.example.com`, or a user and a password. Its address may be private. Unset: `https://registry.npmjs.org`',
    isRegistry,
    'be an http or https URL without query, such as https://TOKEN@npm.example.com',
  ),
  CONTACT: unset(
    Type.Refine(Type.String(), isContact),
    'Send this e-mail address or URL of the operator in `User-Agent` when plugins and web records call third parties. Wikimedia limits callers without a contact to 10 requests a minute, or refuses them. Unset: `User-Agent` has no contact',
    { must: 'be an e-mail address or a URL without blanks and parentheses' },
  ),
  EGRESS_OVERRIDES: map<string>(
    [isOrigin, Type.Refine(Type.String(), isOrigin)],
    'be a JSON object of origins, such as \'{"https://api.example.com":"http://127.0.0.1:9000"}\', in single quotes in a shell',
    'Redirect calls from one origin to another, as a JSON object such as \'{"https://api.example.com":"http://127.0.0.1:9000"}\' (with the quotes in a shell)',
  ),
  EGRESS_ALLOW: list(
    isNetwork,
    'be a list of addresses or networks',
    'Allow plugins to call these addresses or networks (CIDR), separated by commas, although they are not public',
  ),
  BUNDLE_HOSTS: map<readonly string[]>(
    [isText, Type.Array(Type.Refine(Type.String(), isHost))],
    'be a JSON object of lists of hosts, such as \'{"http_request":["api.example.com"]}\', in single quotes in a shell',
    'Allow bundles that leave their hosts to the operator to call these hosts, as a JSON object such as \'{"http_request":["api.example.com","crm.example.com:8443"]}\' (with the quotes in a shell). Names are exact; other bundles are not affected. Addresses that are not public also need EGRESS_ALLOW',
  ),
  ISOLATION: choice(
    ['auto', 'process', 'sandbox'],
    'auto',
    'Isolate the handlers (code) of bundles: `auto` runs handlers of the product in processes and handlers of BUNDLES in a sandbox, and refuses the latter if the machine has no sandbox; `sandbox` runs all in a sandbox; `process` runs all in processes, for bundles whose code you have read',
  ),
  PLUGIN_SECONDS: whole(
    [1, 600],
    30,
    'Stop a plugin after this many seconds, or earlier if its bundle sets a lower limit',
    'seconds',
  ),
  MAX_RUNS_OF_KEY: whole(
    [1, 10_000],
    128,
    'Refuse runs (429) while this many runs of the key are waiting or running. A project, and callers without a key, have at most twice as many, and all projects together four times as many. Nodes share these numbers. Asynchronous runs are counted separately',
  ),
  RUN_DAYS: whole([1, 3650], 30, 'Delete the records of runs after this many days', 'days'),
  ARTIFACT_HOURS: whole(
    [1, 8760],
    24,
    'Delete stored outputs of plugins (pictures, documents, large outputs) after this many hours',
    'hours',
  ),
};

/** The settings that few installations change. */
export const advancedSettings = {
  ...addresses,
  ...firstStart,
  ...people,
  ...store,
  ...documents,
  ...search,
  ...plugins,
};
