import { availableParallelism } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { Secret } from '../../platform/secret.ts';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';
import { findMissingFolder, type ModelConfig, readModelsFile } from './models-file.ts';
import { normalizePublicUrl } from './public-url.ts';
import { readSettings } from './read-settings.ts';
import type { SettingValues } from './setting.ts';
import { splitKeys } from './setting-checks.ts';
import { settings } from './settings.ts';
import { findUnknownNames } from './unknown-names.ts';

export { ConfigError } from './config-error.ts';
export { type Environment, processEnvironment } from './environment.ts';

type Values = SettingValues<typeof settings>;

/** All settings, read once from the environment, and what follows from them. Each module receives the part that it needs. */
export interface Config extends Omit<Values, 'bundles' | 'data' | 'sealingKey'> {
  /** An absolute path. */
  readonly dataFolder: string;
  /** Further folders of bundles. */
  readonly bundleFolders: readonly string[];
  readonly extractionProcesses: number;
  /** The first key encrypts; all keys decrypt. */
  readonly encryptionKeys: readonly Secret[];
  /** The folder of installed bundles. */
  readonly installedBundles: string;
  /** The models of collections that do not use the first one. */
  readonly furtherModels: readonly ModelConfig[];
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
  const { bundles, data, sealingKey, ...values } = readSettings(settings, environment, errors);
  const config: Config = {
    ...values,
    dataFolder: data,
    bundleFolders: bundles,
    publicFilesUrl: values.publicFilesUrl && normalizePublicUrl(values.publicFilesUrl),
    publicPluginsUrl: values.publicPluginsUrl && normalizePublicUrl(values.publicPluginsUrl),
    extractionProcesses: values.extractionProcesses ?? Math.max(1, Math.min(4, availableParallelism())),
    encryptionKeys: splitKeys(sealingKey?.reveal() ?? '').map((key) => new Secret(key)),
    installedBundles: join(data, 'bundles'),
    furtherModels: readModelsFile(values.embeddingModelsFile, errors),
    programFolders: (environment.PATH ?? '').split(delimiter).filter(isAbsolute),
  };
  errors.push(...findContradictions(config), ...findMissingFolder(config));
  if (errors.length > 0) throw new ConfigError(errors);
  return Object.freeze(config);
}

function findContradictions(config: Config): string[] {
  const { serve, filesPort, pluginsPort, rerankerProvider, rerankerModel } = config;
  const errors: string[] = [];
  // Port 0 selects a free one.
  if (serve === 'both' && filesPort === pluginsPort && filesPort !== 0)
    errors.push(`QUARTERMASTER_FILES_PORT and QUARTERMASTER_PLUGINS_PORT are both ${filesPort}. Set different ports.`);
  if (rerankerProvider !== 'none' && rerankerModel === null)
    errors.push(`QUARTERMASTER_RERANKER_PROVIDER is ${rerankerProvider}: set QUARTERMASTER_RERANKER_MODEL, too.`);
  return errors;
}
