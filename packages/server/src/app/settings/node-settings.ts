import { basename } from 'node:path';
import type { Config } from './config.ts';
import type { ModelConfig } from './models-file.ts';
import { prefix } from './read-settings.ts';

/**
 * The settings that every node with object storage must have in common, as texts by name. With others, the nodes would give different
 * answers to one question, or one would accept what another refuses. Limits may differ, so that they can be changed node by node.
 */
export function settingsOfNodes(config: Config): Readonly<Record<string, string>> {
  const models = [config, ...config.furtherModels].map(nameOfModel);
  const values: Readonly<Record<string, string | null>> = {
    PUBLIC_FILES_URL: config.publicFilesUrl,
    PUBLIC_PLUGINS_URL: config.publicPluginsUrl,
    EMBEDDING_MODEL: models[0] || null,
    EMBEDDING_MODELS_FILE: models.slice(1).join(', ') || null,
    RERANKER_PROVIDER: config.rerankerProvider,
    RERANKER_MODEL: config.rerankerModel,
    OIDC_ISSUER: config.oidcIssuer,
    OIDC_CLIENT_ID: config.oidcClientId,
    ...(config.serve === 'both' && { PLUGINS_KEY: config.pluginsKey }),
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value ?? 'unset']));
}

/** Folders of models have their own paths on each machine. */
function nameOfModel({ embeddingProvider, embeddingModel, embeddingDimensions: size }: ModelConfig): string {
  if (embeddingProvider === 'none') return '';
  const model = embeddingProvider === 'onnx' ? basename(embeddingModel ?? '') : embeddingModel;
  return [embeddingProvider, model ?? '', size === null ? '' : `(${size})`].filter((part) => part !== '').join(' ');
}
