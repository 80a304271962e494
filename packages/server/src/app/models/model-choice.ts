import type { EmbeddingModels } from '@quartermaster/contract';
import type { AuditBy } from '../../platform/audit/audit.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { Counter } from '../../platform/metrics.ts';
import { Problem } from '../../platform/problem.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';

type Model = EmbeddingModels['models'][number];
type Download = NonNullable<EmbeddingModels['download']>;

/** Callbacks that report the progress of a download. */
export interface DownloadProgress {
  readonly onRuntime: () => void;
  /** Called with the name of a file and the bytes that have arrived of it. */
  readonly onProgress: (name: string, bytes: number) => void;
  readonly onTrial: () => void;
}

export interface ModelChoiceDeps extends Pick<CommonDeps, 'audit' | 'logger' | 'metrics'> {
  readonly source: string;
  /** Why the service cannot choose a model by itself, and what to do; null when it can. */
  readonly obstacle: string | null;
  readonly listModels: () => Promise<readonly Model[]>;
  /** The model whose download was interrupted by the end of the service; null without one. */
  readonly wanted: () => string | null;
  /** Stores the model that the next start downloads if this process ends; null for none. */
  readonly setWanted: (model: string | null) => Promise<void>;
  /** Downloads the model, tries it and puts it into the list of the models in use. */
  readonly download: (model: string, progress: DownloadProgress, signal: AbortSignal) => Promise<unknown>;
  /** Opens the models of the list and closes the others. */
  readonly exchange: () => Promise<void>;
  readonly countCollections: () => Promise<{ readonly all: number; readonly waiting: number } | null>;
}

/** Lets an administrator choose a recommended embedding model, whose download runs in the background. */
export interface ModelChoice {
  describe(): Promise<EmbeddingModels>;
  /** Begins the download of a model, unless it runs already. @throws Problem when that is impossible */
  begin(model: string, by: AuditBy): Promise<void>;
  /** Ends the download in progress, if there is one, and forgets one that failed. */
  cancel(by: AuditBy): Promise<void>;
  /** Interrupts the download. The next start begins it again. */
  close(): Promise<void>;
}

interface Running {
  readonly model: string;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

const internalReason =
  'The service failed for an internal reason. Look for "embedding model not downloaded" in its log.';

export function openModelChoice(deps: ModelChoiceDeps): ModelChoice {
  const { audit, logger, obstacle, source } = deps;
  const downloads = createCounter(deps.metrics);
  let shown: Download | null = null;
  let running: Running | undefined;
  let isClosing = false;

  function start(model: string, stored: Promise<void>): void {
    const abort = new AbortController();
    running = { model, abort, ended: run(model, stored, abort.signal) };
  }

  async function run(model: string, stored: Promise<void>, signal: AbortSignal): Promise<void> {
    const received = new Map<string, number>();
    const show = (change: Partial<Download>) => {
      const bytes = received.values().reduce((sum, each) => sum + each, 0);
      shown = { model, phase: 'download', error: null, ...change, bytes };
    };
    show({});
    try {
      await stored;
      await deps.download(
        model,
        {
          onRuntime: () => show({ phase: 'runtime' }),
          onProgress: (name, bytes) => {
            received.set(name, bytes);
            show({});
          },
          onTrial: () => show({ phase: 'trial' }),
        },
        signal,
      );
      await deps.exchange();
      downloads.inc({ outcome: 'succeeded' });
      shown = null;
    } catch (error) {
      if (isClosing) return;
      const isCancelled = signal.aborted;
      downloads.inc({ outcome: isCancelled ? 'cancelled' : 'failed' });
      if (isCancelled) shown = null;
      else {
        logger.error({ err: error, model }, 'embedding model not downloaded');
        show({ phase: 'failed', error: error instanceof OperatorError ? error.message : internalReason });
      }
      await deps.setWanted(null).catch((err: unknown) => logger.error({ err }, 'embedding model still wanted'));
    } finally {
      running = undefined;
    }
  }

  const interrupted = obstacle === null ? deps.wanted() : null;
  if (interrupted !== null) start(interrupted, Promise.resolve());

  return {
    async describe() {
      const counted = await deps.countCollections();
      return {
        object: 'EmbeddingModels',
        models: [...(await deps.listModels())],
        source,
        obstacle,
        download: shown,
        collections: counted && { num_embedded: counted.all - counted.waiting, num_all: counted.all },
      };
    },
    async begin(model, by) {
      if (obstacle !== null) throw new Problem('NOT_CONFIGURED', obstacle);
      const known = (await deps.listModels()).map(({ name }) => name);
      if (!known.includes(model)) throw fieldInvalid('body/model', JSON.stringify(model), `one of ${known.join(', ')}`);
      if (running?.model === model) return;
      if (running !== undefined) throw downloading(running.model);
      const store = async () => {
        await audit.record(by, { action: 'embedding_model.chosen', id: model });
        await deps.setWanted(model);
      };
      const stored = store();
      // In the same turn as the check above, so only one of two simultaneous requests starts a download.
      start(model, stored);
      await stored;
    },
    async cancel(by) {
      if (running === undefined) {
        shown = null;
        return;
      }
      const { model, abort, ended } = running;
      await audit.record(by, { action: 'embedding_model.cancelled', id: model });
      abort.abort(new Error('An administrator has cancelled the download.'));
      await ended;
    },
    async close() {
      isClosing = true;
      running?.abort.abort(new Error('The service is stopping.'));
      await running?.ended;
    },
  };
}

const createCounter = (metrics: ModelChoiceDeps['metrics']) =>
  new Counter({
    name: 'quartermaster_embedding_model_downloads_total',
    help: 'Downloads of embedding models that an administrator chose, by outcome (succeeded, failed, cancelled).',
    labelNames: ['outcome'],
    registers: [metrics],
  });

const downloading = (model: string) =>
  new Problem('DUPLICATE_OBJECT', `The model ${model} is being downloaded. Wait until it ends, or cancel it.`);
