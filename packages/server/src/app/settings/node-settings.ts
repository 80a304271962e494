import { basename } from 'node:path';
import type { Config } from './config.ts';
import type { ModelConfig } from './models-file.ts';
import { prefix } from './read-settings.ts';

/**
 * The settings that every node with object storage must have in common, as texts by name. With others, the nodes would give different
 * answers to one question, or one would accept what another refuses. Limits may differ, so that they can be changed node by node.
 */
export function settingsOfNodes(config: Config): Readonly<Record<string, string>> {
  const everyModel = [config, ...config.furtherModels];
  const models = everyModel.map(nameOfModel);
  const values: Readonly<Record<string, string | null>> = {
    PUBLIC_FILES_URL: config.publicFilesUrl,
    PUBLIC_PLUGINS_URL: config.publicPluginsUrl,
    EMBEDDING_MODEL: models[0] || null,
    EMBEDDING_MODELS_FILE: models.slice(1).join(', ') || null,
    EMBEDDING_QUERY_PREFIX: quoteAll(everyModel.map(({ embeddingQueryPrefix }) => embeddingQueryPrefix)),
    EMBEDDING_DOCUMENT_PREFIX: quoteAll(everyModel.map(({ embeddingDocumentPrefix }) => embeddingDocumentPrefix)),
    RERANKER_PROVIDER: config.rerankerProvider,
    RERANKER_MODEL: config.rerankerModel,
    OIDC_ISSUER: config.oidcIssuer,
    OIDC_CLIENT_ID: config.oidcClientId,
    ...(config.serve === 'both' && { PLUGINS_KEY: config.pluginsKey }),
  };
  return named(values);
}

/**
 * The settings that all processes on one PostgreSQL database must have in common. One of them deletes old data for all, and one that
 * stores less durably would lose what the others promise to keep.
 */
export function settingsOfProcesses(config: Config): Readonly<Record<string, string>> {
  const { serve, blobs, databaseDurability, runDays } = config;
  const keepsRuns = serve !== 'files';
  const keepsDeleted = serve !== 'plugins' && blobs !== null;
  return {
    ...named({ DATABASE_DURABILITY: databaseDurability, ...(keepsRuns && { RUN_DAYS: String(runDays) }) }),
    ...(keepsDeleted && { [`keep_deleted_days of ${prefix}BLOBS`]: String(blobs.keepDeletedDays) }),
  };
}

function named(values: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value ?? 'unset']));
}

/** The texts before the questions or chunks of each model. */
function quoteAll(texts: ReadonlyArray<string | null>): string | null {
  return texts.every((text) => text === null) ? null : texts.map((text) => JSON.stringify(text)).join(', ');
}

/** Folders of models have their own paths on each machine. */
function nameOfModel({ embeddingProvider, embeddingModel, embeddingDimensions: size }: ModelConfig): string {
  if (embeddingProvider === 'none') return '';
  const model = embeddingProvider === 'onnx' ? basename(embeddingModel ?? '') : embeddingModel;
  return [embeddingProvider, model ?? '', size === null ? '' : `(${size})`].filter((part) => part !== '').join(' ');
}
