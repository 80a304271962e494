import { availableParallelism } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { isLoopback } from '../../platform/http/allowed-hosts.ts';
import { Secret } from '../../platform/secret.ts';
import { didYouMean } from '../../platform/validation/field-errors.ts';
import { modelsFolder, readModelList } from './chosen-models.ts';
import type { Environment } from './environment.ts';
import { findMissingFolder, localModel, type ModelConfig, readModelsFile } from './models-file.ts';
import { type ObjectStorage, readObjectStorage } from './object-storage.ts';
import { prefix, readSettings } from './read-settings.ts';
import type { SettingValues } from './setting.ts';
import { isSafeUrl, normalizePublicUrl, splitKeys } from './setting-checks.ts';
import { isSecretFile, settings } from './settings.ts';

export { type Environment, processEnvironment } from './environment.ts';

type Values = SettingValues<typeof settings>;

/** All settings, read once from the environment, and what follows from them. Each module receives the part that it needs. */
export interface Config extends Omit<Values, 'blobs' | 'bundles' | 'data' | 'sealingKey'> {
  /** An absolute path. */
  readonly dataFolder: string;
  /** The object storage with the content of files; null for the data folder. */
  readonly blobs: ObjectStorage | null;
  /** Further folders of bundles. */
  readonly bundleFolders: readonly string[];
  readonly extractionProcesses: number;
  /** The first key encrypts; all keys decrypt. */
  readonly encryptionKeys: readonly Secret[];
  /** The folder of installed bundles. */
  readonly installedBundles: string;
  /** The models of collections that do not use the first one. */
  readonly furtherModels: readonly ModelConfig[];
  /** Whether the first one of them was in use before `quartermaster embedding use` has chosen another. */
  readonly hasFormerModel: boolean;
  /** Whether `models.json` of the data folder names the models, because no setting names a provider. */
  readonly choosesModels: boolean;
  /** The folders of the PATH. */
  readonly programFolders: readonly string[];
}

/**
 * Reads the settings, and the files that settings name. Reports all invalid variables together, by name. Unknown names under
 * `QUARTERMASTER_` are errors, so misspelt settings are noticed.
 * @throws ConfigError
 */
export function parseConfig(environment: Environment): Config {
  const errors = findUnknownNames(environment);
  const { blobs, bundles, data, sealingKey, ...values } = readSettings(settings, environment, errors);
  const choosesModels = !environment[`${prefix}EMBEDDING_PROVIDER`];
  const [chosen, ...former] = choosesModels ? tryReadModels({ ...values, dataFolder: data }, errors) : [];
  const config: Config = {
    ...values,
    ...chosen,
    dataFolder: data,
    blobs: readObjectStorage(blobs, environment, errors),
    bundleFolders: bundles,
    publicFilesUrl: values.publicFilesUrl && normalizePublicUrl(values.publicFilesUrl),
    publicPluginsUrl: values.publicPluginsUrl && normalizePublicUrl(values.publicPluginsUrl),
    extractionProcesses: values.extractionProcesses ?? Math.max(1, Math.min(4, availableParallelism())),
    encryptionKeys: splitKeys(sealingKey?.reveal() ?? '').map((key) => new Secret(key)),
    installedBundles: join(data, 'bundles'),
    choosesModels,
    hasFormerModel: former.length > 0,
    furtherModels: [...former, ...readModelsFile(values.embeddingModelsFile, errors)],
    programFolders: (environment.PATH ?? '').split(delimiter).filter(isAbsolute),
  };
  errors.push(...findContradictions(config), ...findMissingFolder(config));
  if (errors.length > 0) throw new ConfigError(errors);
  return Object.freeze(config);
}

/**
 * Returns the models that an administrator has chosen. Settings that name a provider take precedence over them.
 * @throws OperatorError when their list is damaged
 */
export function readChosenModels(of: Pick<Config, 'dataFolder' | 'embeddingThreads'>): ModelConfig[] {
  const folder = modelsFolder(of.dataFolder);
  return readModelList(folder).in_use.map((name) => localModel(join(folder, name), of.embeddingThreads));
}

function tryReadModels(of: Parameters<typeof readChosenModels>[0], errors: string[]): ModelConfig[] {
  try {
    return readChosenModels(of);
  } catch (error) {
    errors.push((error as Error).message); // readModelList throws errors
    return [];
  }
}

function findContradictions(config: Config): string[] {
  const { serve, filesPort, pluginsPort, rerankerProvider, rerankerModel } = config;
  const errors: string[] = [];
  // Port 0 selects a free one.
  if (serve === 'both' && filesPort === pluginsPort && filesPort !== 0)
    errors.push(`QUARTERMASTER_FILES_PORT and QUARTERMASTER_PLUGINS_PORT are both ${filesPort}. Set different ports.`);
  if (rerankerProvider !== 'none' && rerankerModel === null)
    errors.push(`QUARTERMASTER_RERANKER_PROVIDER is ${rerankerProvider}: set QUARTERMASTER_RERANKER_MODEL, too.`);
  return [...errors, ...findOidcContradictions(config)];
}

function findOidcContradictions(config: Config): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcAllowedDomains, oidcRoles, oidcRolesClaim } = config;
  const errors: string[] = [];
  const isUsed = [oidcClientId, oidcClientSecret, oidcRolesClaim].some((value) => value !== null);
  if (oidcIssuer === null && (isUsed || oidcAllowedDomains.length > 0 || oidcRoles.length > 0))
    errors.push('QUARTERMASTER_OIDC_ISSUER is not set, but other settings of the sign-in are. Set it, too.');
  if (oidcIssuer !== null && oidcClientId === null)
    errors.push('QUARTERMASTER_OIDC_ISSUER is set: set QUARTERMASTER_OIDC_CLIENT_ID, too.');
  if (oidcRoles.length > 0 !== (oidcRolesClaim !== null))
    errors.push('QUARTERMASTER_OIDC_ROLES and QUARTERMASTER_OIDC_ROLES_CLAIM need each other. Set both or none.');
  const isReachable = config.publicFilesUrl === null ? isLoopback(config.host) : isSafeUrl(config.publicFilesUrl);
  if (oidcIssuer !== null && !isReachable)
    errors.push(
      'QUARTERMASTER_OIDC_ISSUER is set: set QUARTERMASTER_PUBLIC_FILES_URL to an https URL, to which the provider sends browsers back.',
    );
  return errors;
}

/** Some settings are invalid. */
export class ConfigError extends Error {
  readonly errors: readonly string[];
  constructor(errors: readonly string[]) {
    super(`The settings are not valid:\n${errors.map((error) => `  - ${error}`).join('\n')}`);
    this.name = 'ConfigError';
    this.errors = errors;
  }
}

/** Variables of the command line and of the set-up, which may be set where the service starts. */
const otherNames: readonly string[] = ['URL', 'PLUGINS_URL', 'API_KEY', 'NODE', 'CORPUS'];
/** More suggestions than this help no more than the list of all settings. */
const maxSuggestions = 3;

/** Returns an error for each variable with the prefix that is not a setting. */
export function findUnknownNames(environment: Environment): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !name.startsWith(`${prefix}TEST_`))
    .map((name) => name.slice(prefix.length))
    .filter((key) => !otherNames.includes(key) && !Object.hasOwn(settings, key) && !isSecretFile(key))
    .map(describeUnknownName);
}

function describeUnknownName(key: string): string {
  const similar = findSimilar(key).map((each) => prefix + each);
  const question = similar.length === 0 ? '' : `Did you mean ${similar.join(' or ')}? `;
  return `${prefix}${key} is not a setting. ${question}docs/reference/settings.md lists all settings.`;
}

/** Finds the misspelt setting, or those that add words to the written key: FILES_PORT and PLUGINS_PORT for PORT. */
function findSimilar(key: string): string[] {
  const known = Object.keys(settings);
  const misspelt = didYouMean(key, known);
  if (misspelt !== undefined) return [misspelt];
  const longer = known.filter((each) => each.startsWith(`${key}_`) || each.endsWith(`_${key}`));
  return longer.length > maxSuggestions ? [] : longer;
}
