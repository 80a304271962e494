import { createLogger } from '../kernel/log/logger.ts';
import { createMetrics } from '../kernel/metrics.ts';
import { OperatorError } from '../kernel/process/operator-error.ts';
import { EmbedderUnavailable } from '../search/embedding/embedder.ts';
import { createEmbedderMetrics } from '../search/embedding/embedder-metrics.ts';
import { type Environment, parseConfig } from '../settings/config.ts';
import type { ModelConfig } from '../settings/embedding-config.ts';
import { openModel } from './wire-embedding.ts';

/** A configured embedding model, after one short text was sent to it. */
export interface CheckedModel {
  readonly provider: string;
  /** Null when the settings do not name one. */
  readonly model: string | null;
  /** Null when there was no vector. */
  readonly dimensions: number | null;
  /** Why the check failed; null when it succeeded. It contains no credential. */
  readonly problem: string | null;
}

/**
 * Sends one short text to each configured model, through the egress broker, without retries.
 * @returns an empty list when no model is configured
 * @throws ConfigError, or the reason of the aborted signal
 */
export async function checkEmbedding(environment: Environment, signal: AbortSignal): Promise<CheckedModel[]> {
  const config = parseConfig(environment);
  if (config.embeddingProvider === 'none' || config.embeddingProvider === 'hash') return [];
  const context = { config, logger: createLogger('silent') };
  const metrics = createEmbedderMetrics(createMetrics());
  const checked: CheckedModel[] = [];
  for (const settings of [config, ...config.furtherModels]) {
    const about = { provider: settings.embeddingProvider, model: settings.embeddingModel };
    checked.push({ ...about, ...(await checkModel(settings, signal)) });
  }
  return checked;

  async function checkModel(settings: ModelConfig, signal: AbortSignal) {
    try {
      // Nothing counts the tokens of a question.
      await using embedder = await openClosable(settings);
      const { length: dimensions } = await embedder.embedQuestion('test', signal);
      const wanted = settings.embeddingDimensions;
      const problem =
        wanted === null || wanted === dimensions
          ? null
          : `The model returned a vector of ${dimensions} dimensions, but QUARTERMASTER_EMBEDDING_DIMENSIONS is ${wanted}.`;
      return { dimensions, problem };
    } catch (error) {
      if (!(error instanceof EmbedderUnavailable || error instanceof OperatorError)) throw error;
      return { dimensions: null, problem: error.message };
    }
  }

  async function openClosable(settings: ModelConfig) {
    const embedder = await openModel(context, settings, { countTokens: async () => 0, metrics });
    return { ...embedder, [Symbol.asyncDispose]: embedder.close };
  }
}
