import { type RunningTask, startPeriodicTasks } from '../../../platform/concurrency/periodic-task.ts';
import type { Logger } from '../../../platform/log/logger.ts';
import { type Embedder, EmbedderUnavailable } from './embedder.ts';
import type { EmbedderMetrics } from './embedder-metrics.ts';

/** What one short text has shown about a model. */
export interface ModelTrial {
  /** Null when there was no vector. */
  readonly dimensions: number | null;
  /** Why the trial failed; null when it succeeded. It contains no credential. */
  readonly problem: string | null;
}

/** The maximum wait of a person for the trial of a model, in milliseconds. */
const maxWaitMs = 10_000;

/** Tries a model for a person who waits. @see tryModel */
export async function tryModelSoon(
  embedder: Pick<Embedder, 'embedQuestion'>,
  wanted: number | null,
): Promise<ModelTrial> {
  const limit = AbortSignal.timeout(maxWaitMs);
  try {
    return await tryModel(embedder, wanted, limit);
  } catch (error) {
    if (!limit.aborted) throw error;
    return { dimensions: null, problem: `The model returned no vector within ${maxWaitMs / 1000} s.` };
  }
}

/**
 * Sends one short text, without retries, so that a wrong address, key, model or number of dimensions is known before the
 * first chunk is sent.
 * @param wanted the dimensions of the settings; null for those of the model
 * @throws the reason of the aborted signal
 */
export async function tryModel(
  embedder: Pick<Embedder, 'embedQuestion'>,
  wanted: number | null,
  signal: AbortSignal,
): Promise<ModelTrial> {
  try {
    const { length: dimensions } = await embedder.embedQuestion('test', signal);
    const problem =
      wanted === null || wanted === dimensions
        ? null
        : `The model returned a vector of ${dimensions} dimensions, but QUARTERMASTER_EMBEDDING_DIMENSIONS is ${wanted}.`;
    return { dimensions, problem };
  } catch (error) {
    if (!(error instanceof EmbedderUnavailable)) throw error;
    return { dimensions: null, problem: error.message };
  }
}

export interface TriedModel {
  readonly embedder: Embedder;
  /** The dimensions of the settings; null for those of the model. */
  readonly dimensions: number | null;
}

interface ModelTrialDeps {
  readonly metrics: Pick<EmbedderMetrics, 'tried'>;
  readonly logger: Logger;
  /** Milliseconds between two trials of a model that fails. */
  readonly pauseMs?: number;
}

const defaultPauseMs = 5 * 60_000;

/**
 * Tries each model once after a start, in the background, so that a start never fails or waits for it. A model that fails is
 * tried again until it works. Each problem is logged once.
 */
export function startModelTrials(models: readonly TriedModel[], deps: ModelTrialDeps): Pick<RunningTask, 'close'> {
  const { metrics, logger, pauseMs: pause = defaultPauseMs } = deps;
  const tasks = models.map(({ embedder, dimensions: wanted }) => {
    const { model } = embedder;
    let logged: string | null = null;
    let isWorking = false;
    async function run(signal: AbortSignal): Promise<void> {
      if (isWorking) return;
      const { dimensions, problem } = await tryModel(embedder, wanted, signal);
      isWorking = problem === null;
      metrics.tried(model, isWorking);
      if (isWorking) logger.info({ model, dimensions }, 'embedding model works');
      else if (problem !== logged) logger.warn({ model, reason: problem }, 'embedding model failed');
      logged = problem;
    }
    return { name: `trial of ${model}`, pause, run };
  });
  return startPeriodicTasks(tasks, logger);
}
