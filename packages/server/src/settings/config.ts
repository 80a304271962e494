import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { LogLevel } from '../kernel/log/logger.ts';
import { quoteText } from '../kernel/quote-text.ts';
import { Secret } from '../kernel/secret.ts';
import { findEqualPorts } from './address-settings.ts';
import { ConfigError } from './config-error.ts';
import { type ModelConfig, readModel, readModelsFile } from './embedding-config.ts';
import { findMissingEmbedding } from './embedding-settings.ts';
import type { Environment } from './environment.ts';
import { type OcrConfig, readOcr } from './ocr-settings.ts';
import { normalizePublicUrl } from './public-url.ts';
import { readSecret } from './read-secret.ts';
import { type RerankerConfig, readReranker } from './reranker-settings.ts';
import type { Setting } from './setting.ts';
import { settings } from './settings.ts';
import { findUnknownNames } from './unknown-names.ts';

export { ConfigError } from './config-error.ts';
export { type Environment, processEnvironment } from './environment.ts';

/** All settings, read once from the environment. Each module receives the part that it needs. */
export interface Config extends ModelConfig {
  readonly host: string;
  readonly filesPort: number;
  readonly pluginsPort: number;
  /** Which of the two addresses this process serves. */
  readonly serve: 'both' | 'files' | 'plugins';
  /** Absolute path of the data folder. */
  readonly dataFolder: string;
  /** null for SQLite in the data folder. */
  readonly databaseUrl: Secret | null;
  /** The connections of this process to PostgreSQL. */
  readonly databaseConnections: number;
  readonly databaseDurability: 'local' | 'standby';
  /** Absolute paths of further bundle folders. */
  readonly bundleFolders: readonly string[];
  /** Absolute path of the folder of installed bundles. */
  readonly installedBundles: string;
  /** Public keys, `ed25519:…`. */
  readonly bundlePublishers: readonly string[];
  readonly egressOverrides: ReadonlyMap<string, string>;
  readonly egressAllow: readonly string[];
  /** The hosts that the operator allows, by bundle id. */
  readonly bundleHosts: ReadonlyMap<string, readonly string[]>;
  readonly pluginsKey: 'auto' | 'required' | 'off';
  /** The models of collections that do not use the first one. */
  readonly furtherModels: readonly ModelConfig[];
  readonly vectorMemoryMb: number;
  /** The first key encrypts; all keys decrypt. */
  readonly encryptionKeys: readonly Secret[];
  /** An absolute path. */
  readonly encryptionKeyFile: string | null;
  /** The first API key of a new installation; null for a new key. */
  readonly firstKey: Secret | null;
  readonly administratorName: string;
  /** null: a setup link creates the administrator. */
  readonly administratorPassword: Secret | null;
  readonly logLevel: LogLevel;
  readonly maxFileBytes: number;
  readonly maxProjectBytes: number | null;
  /** The limit of one project. */
  readonly maxFiles: number;
  readonly minFreeDiskMb: number;
  readonly quarantineDays: number;
  readonly verificationDays: number;
  readonly verificationMbPerSecond: number;
  readonly maxUploadsInFlight: number;
  /** The limit of one project. */
  readonly maxCollections: number;
  /** The limit of one collection. */
  readonly maxRecords: number;
  /** The limit of one project. */
  readonly maxWaitingRecords: number;
  readonly questionSeconds: number;
  /** The limit of one thread. */
  readonly searchCacheBytes: number;
  readonly uploadIdleSeconds: number;
  readonly extractionProcesses: number;
  readonly extractionSeconds: number;
  readonly extractionMemoryMb: number;
  readonly ocr: OcrConfig;
  /** Null without a reranker. */
  readonly reranker: RerankerConfig | null;
  readonly isolation: 'auto' | 'process' | 'sandbox';
  readonly cgroup: 'auto' | 'off';
  readonly pluginProcesses: number;
  readonly pluginSeconds: number;
  readonly pluginMemoryMb: number;
  readonly pluginCpuSeconds: number;
  /** Concurrent plugin runs of one key. */
  readonly maxRunsOfKey: number;
  /** The maximum number of bytes of the stored responses of one project. */
  readonly maxKeptAnswerBytes: number;
  /** The lifetime of stored outputs in milliseconds, and their number in one project. */
  readonly artifacts: { readonly lifetimeMs: number; readonly most: number };
  /** The bounds of stored runs and results. */
  readonly runRetention: { readonly days: number; readonly most: number; readonly resultBytes: number };
  readonly keepAliveSeconds: number;
  /** null for the default: 0 on a terminal, otherwise 5. */
  readonly drainSeconds: number | null;
  readonly stopSeconds: number;
  /** 0 disables the watchdog. */
  readonly watchdogSeconds: number;
  /** Without a trailing slash. A path in it is the base path, which a proxy removes from requests. */
  readonly publicFilesUrl: string | null;
  readonly publicPluginsUrl: string | null;
  readonly mcpHosts: readonly string[];
  readonly mcpListTokens: number;
  /** Bundle ids and tool names, by the name of the set. */
  readonly mcpToolsets: ReadonlyMap<string, readonly string[]>;
  /** Origins. */
  readonly corsOrigins: readonly string[];
  /** Addresses and networks. */
  readonly trustedProxies: readonly string[];
}

const prefix = 'QUARTERMASTER_';

/**
 * Reads the settings, and the files that settings name for secrets. Reports all invalid variables together, by name.
 * Unknown names under `QUARTERMASTER_` are errors, so misspelt settings are noticed. An empty value counts as unset.
 * @throws ConfigError
 */
export function parseConfig(environment: Environment): Config {
  const errors = findUnknownNames(environment, prefix);
  const reader = createReader(environment, errors);
  const config: Config = {
    ...readAddresses(reader),
    ...readStorage(reader),
    ...readBundles(reader),
    ...readModel(reader),
    furtherModels: readModelsFile(
      { path: reader.optional('EMBEDDING_MODELS_FILE', resolve), prefix, createReader },
      errors,
    ),
    vectorMemoryMb: reader.number('VECTOR_MEMORY_MB'),
    ...readLimits(reader),
    ocr: readOcr(reader, environment.PATH ?? ''),
    reranker: readReranker(reader, prefix, errors),
    logLevel: reader.text('LOG_LEVEL') as Config['logLevel'], // checked against its list
  };
  errors.push(...findEqualPorts(config));
  errors.push(...findMissingEmbedding(config, prefix));
  if (errors.length > 0) throw new ConfigError(errors);
  return Object.freeze(config);
}

type SettingName = keyof typeof settings;
type Reader = ReturnType<typeof createReader>;

/** A refused URL may contain a password or a key, and the message is logged. */
function withoutCredentials(message: string): string {
  return message.replace(/:\/\/[^\s/"@]*@/g, '://…@').replace(/\?[^\s"]*/g, '?…');
}

/** Reads settings by name and adds errors to `errors`. */
function createReader(environment: Environment, errors: string[]) {
  function read(key: SettingName): string | null {
    const setting: Setting = settings[key];
    const value = environment[prefix + key];
    if (value === undefined || value === '') return setting.default;
    const error = setting.check(value);
    if (error === null) return value;
    const isNamed = setting.secret || error.includes(quoteText(value));
    const message = `${prefix}${key} ${error}${isNamed ? '' : `; received ${quoteText(value)}`}.`;
    errors.push(key.endsWith('URL') ? withoutCredentials(message) : message);
    return setting.default;
  }
  // Every setting read as text has a default, and its check has validated numbers.
  const text = (key: SettingName): string => read(key) ?? '';
  return {
    text,
    number: (key: SettingName): number => Number(text(key)),
    optional<T>(key: SettingName, parse: (value: string) => T): T | null {
      const value = read(key);
      return value === null ? null : parse(value);
    },
    /** Reads a secret from its setting or from the file that another setting names. */
    secret(key: SettingName, fileKey: SettingName): Secret | null {
      const value = read(key);
      const path = read(fileKey);
      if (path === null) return value === null ? null : new Secret(value);
      if (value !== null) errors.push(`${prefix}${key} and ${prefix}${fileKey} are both set. Set one of them.`);
      const content = value === null ? readSecret(path) : null;
      if (value === null && content === null)
        errors.push(
          `${prefix}${fileKey}: the file ${quoteText(resolve(path))} cannot be read. Create it, or correct its permissions or the setting.`,
        );
      const error = content === null ? null : content === '' ? 'is empty' : settings[key].check(content);
      if (error !== null) errors.push(`${prefix}${fileKey}: the content of the file ${error}.`);
      return content === null ? null : new Secret(content);
    },
    /** Reads a JSON object of lists. */
    lists: (key: SettingName): ReadonlyMap<string, readonly string[]> =>
      new Map(Object.entries(JSON.parse(read(key) ?? '{}') as Record<string, string[]>)), // checked as such
    list: (key: SettingName): string[] =>
      text(key)
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
  };
}

/** Reads the listen addresses and the public URLs. */
function readAddresses({ text, number, optional, list, lists }: Reader) {
  return {
    host: text('HOST'),
    filesPort: number('FILES_PORT'),
    pluginsPort: number('PLUGINS_PORT'),
    serve: text('SERVE') as Config['serve'], // checked against its list
    pluginsKey: text('PLUGINS_KEY') as Config['pluginsKey'], // checked against its list
    publicFilesUrl: optional('PUBLIC_FILES_URL', normalizePublicUrl),
    publicPluginsUrl: optional('PUBLIC_PLUGINS_URL', normalizePublicUrl),
    mcpHosts: list('MCP_HOSTS'),
    mcpListTokens: number('MCP_LIST_TOKENS'),
    mcpToolsets: lists('MCP_TOOLSETS'),
    corsOrigins: list('CORS_ORIGINS'),
    trustedProxies: list('TRUSTED_PROXIES'),
  };
}

/** Reads where data is stored, and its limits. */
function readStorage({ text, number, optional, list, secret }: Reader) {
  return {
    dataFolder: resolve(text('DATA')),
    databaseUrl: secret('DATABASE_URL', 'DATABASE_URL_FILE'),
    databaseConnections: number('DATABASE_CONNECTIONS'),
    databaseDurability: text('DATABASE_DURABILITY') as Config['databaseDurability'], // checked against its list
    firstKey: secret('FIRST_KEY', 'FIRST_KEY_FILE'),
    administratorName: text('ADMINISTRATOR_NAME'),
    administratorPassword: secret('ADMINISTRATOR_PASSWORD', 'ADMINISTRATOR_PASSWORD_FILE'),
    encryptionKeys: list('SEALING_KEY').map((key) => new Secret(key)),
    encryptionKeyFile: optional('SEALING_KEY_FILE', (path) => resolve(path)),
    maxFileBytes: number('MAX_FILE_BYTES'),
    maxProjectBytes: optional('MAX_PROJECT_BYTES', Number),
    maxFiles: number('MAX_FILES'),
    minFreeDiskMb: number('MIN_FREE_DISK_MB'),
    quarantineDays: number('QUARANTINE_DAYS'),
    verificationDays: number('VERIFICATION_DAYS'),
    verificationMbPerSecond: number('VERIFICATION_MB_PER_SECOND'),
    maxUploadsInFlight: number('MAX_UPLOADS_IN_FLIGHT'),
    maxCollections: number('MAX_COLLECTIONS'),
    maxRecords: number('MAX_RECORDS'),
    maxWaitingRecords: number('MAX_WAITING_RECORDS'),
    questionSeconds: number('QUESTION_SECONDS'),
    searchCacheBytes: number('SEARCH_CACHE_MB') * 1024 * 1024,
    uploadIdleSeconds: number('UPLOAD_IDLE_SECONDS'),
  };
}

/** Reads the bundle folders and what plugins may do. */
function readBundles({ text, optional, list, lists }: Reader) {
  return {
    bundleFolders: list('BUNDLES').map((folder) => resolve(folder)),
    installedBundles: resolve(optional('INSTALLED_BUNDLES', String) ?? join(text('DATA'), 'bundles')),
    bundlePublishers: list('BUNDLE_PUBLISHERS'),
    bundleHosts: lists('BUNDLE_HOSTS'),
    egressOverrides: new Map(
      optional('EGRESS_OVERRIDES', (value) => Object.entries(JSON.parse(value) as Record<string, string>)) ?? [],
    ),
    egressAllow: list('EGRESS_ALLOW'),
    isolation: text('ISOLATION') as Config['isolation'], // checked against its list
    cgroup: text('CGROUP') as Config['cgroup'], // checked against its list
  };
}

/** Reads the limits of worker processes and runs. */
function readLimits({ number, optional }: Reader) {
  return {
    extractionProcesses: optional('EXTRACTION_PROCESSES', Number) ?? Math.max(1, Math.min(4, availableParallelism())),
    extractionSeconds: number('EXTRACTION_SECONDS'),
    extractionMemoryMb: number('EXTRACTION_MEMORY_MB'),
    pluginProcesses: optional('PLUGIN_PROCESSES', Number) ?? Math.max(2, Math.min(8, availableParallelism())),
    pluginSeconds: number('PLUGIN_SECONDS'),
    pluginMemoryMb: number('PLUGIN_MEMORY_MB'),
    pluginCpuSeconds: number('PLUGIN_CPU_SECONDS'),
    maxRunsOfKey: number('MAX_RUNS_OF_KEY'),
    maxKeptAnswerBytes: number('KEPT_ANSWERS_MB') * 1024 * 1024,
    artifacts: { lifetimeMs: number('ARTIFACT_HOURS') * 3_600_000, most: number('MAX_ARTIFACTS') },
    runRetention: {
      days: number('RUN_DAYS'),
      most: number('MAX_RUNS'),
      resultBytes: number('RUN_RESULTS_MB') * 1024 * 1024,
    },
    keepAliveSeconds: number('KEEP_ALIVE_SECONDS'),
    drainSeconds: optional('DRAIN_SECONDS', Number),
    stopSeconds: number('STOP_SECONDS'),
    watchdogSeconds: number('WATCHDOG_SECONDS'),
  };
}
