import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { ofService } from '../../access/accounts/people-routes.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import { openModelChoice } from '../models/model-choice.ts';
import { modelRoutes } from '../models/routes.ts';
import { modelListName, modelsFolder, readModelList, writeModelList } from '../settings/chosen-models.ts';
import { readChosenModels } from '../settings/config.ts';
import type { CollectionServices } from './collection-services.ts';
import type { ServiceContext } from './context.ts';
import { chooseModel, findObstacle, hubUrl, listModelsOf } from './fetch-model.ts';
import { modelsOf, type OpenModels } from './wire-embedding.ts';
import { describeCapabilities } from './wire-node.ts';

interface ServedModels extends Pick<CollectionServices, 'models'> {
  readonly guard: ManagerGuard;
  readonly openModels: OpenModels;
}

/**
 * Serves the choice of a recommended model. The list of the models in use is a file of the data folder, which this service and
 * `quartermaster embedding use` write. When it has changed, the models are exchanged without a restart.
 */
export async function serveModels(
  context: ServiceContext,
  app: App,
  { guard, ...served }: ServedModels,
): Promise<void> {
  const { config, logger, resources, audit, registry: metrics } = context;
  const folder = modelsFolder(config.dataFolder);
  const obstacle = findObstacle(config, 'multilingual-e5-small');
  const exchange = createExchange(context, served);
  const choice = openModelChoice({
    audit,
    logger,
    metrics,
    obstacle,
    source: hubUrl,
    listModels: async () =>
      (await listModelsOf(config)).map(({ name, languages, licence, dimensions, bytes, state }) => ({
        name,
        languages,
        licence,
        dimensions,
        bytes,
        state: state === 'in use' ? 'in_use' : state,
      })),
    wanted: () => readModelList(folder).wanted ?? null,
    async setWanted(model) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { wanted: _, ...list } = readModelList(folder);
      await writeModelList(folder, model === null ? list : { ...list, wanted: model });
    },
    download: (name, progress, signal) => chooseModel(config, { name, allowedHosts: [], ...progress }, signal),
    exchange,
    countCollections: async () => (await served.models.current()?.countCollections()) ?? null,
  });
  resources.defer(() => choice.close());
  modelRoutes(app, { choice, onRequest: ofService(guard) });
  if (obstacle === null) await watchList(context, folder, exchange);
}

/** Returns a function that opens the models of the list, unless they are open. Calls take turns. */
function createExchange(context: ServiceContext, { models, openModels }: Omit<ServedModels, 'guard'>) {
  const { config, logger, node, resources, urlsOf } = context;
  const further = config.furtherModels.slice(config.hasFormerModel ? 1 : 0);
  let open = modelsOf(config)
    .models.map(({ embeddingModel }) => embeddingModel)
    .join();
  let last: Promise<void> = Promise.resolve();
  resources.defer(() => last);

  async function exchange(): Promise<void> {
    const chosen = readChosenModels(config);
    const set = { models: chosen.length === 0 ? [] : [...chosen, ...further], hasFormer: chosen.length > 1 };
    const wanted = set.models.map(({ embeddingModel }) => embeddingModel).join();
    if (wanted === open) return;
    const { parts, closeOthers } = await openModels(set);
    await models.exchange(parts);
    open = wanted;
    await closeOthers();
    logger.info(
      { model: parts?.embedder.model ?? null, former: parts?.formerModel ?? null },
      'embedding models exchanged',
    );
    // The model is in use also when the other nodes do not learn of it.
    await describeCapabilities(context, parts === undefined ? 'none' : 'onnx')
      .then((capabilities) => node.publish({ address: urlsOf('files')[0] ?? '', capabilities }))
      .catch((error: unknown) => logger.warn({ err: error }, 'capabilities of the node not published'));
  }

  return (): Promise<void> => {
    const next = last.then(exchange);
    last = next.catch(() => {});
    return next;
  };
}

/** Exchanges the models when a command has changed the list. It needs no timer. */
async function watchList(
  { logger, resources }: Pick<ServiceContext, 'logger' | 'resources'>,
  folder: string,
  exchange: () => Promise<void>,
): Promise<void> {
  let watcher: FSWatcher;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    watcher = watch(folder, { persistent: false });
  } catch (error) {
    logger.warn({ err: error }, 'embedding models not watched: a change needs a restart');
    return;
  }
  resources.defer(() => watcher.close());
  watcher.on('error', (error) => logger.warn({ err: error }, 'embedding models not watched: a change needs a restart'));
  watcher.on('change', (_, name) => {
    if (name !== modelListName) return;
    exchange().catch((error: unknown) => logger.error({ err: error }, 'embedding models not exchanged'));
  });
}
