import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { withoutTrailingSlashes } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import { exists } from '../../platform/disk/exists.ts';
import { createFolderPath } from '../../platform/disk/sync-to-disk.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { didYouMean } from '../../platform/validation/field-errors.ts';
import { version } from '../../platform/version.ts';
import { freeBytes } from '../../storage/disk/disk-space.ts';
import {
  type Checksums,
  type FetchedModel,
  fetchModel,
  type ModelRequest,
} from '../../stores/search/embedding/model-fetch/fetch-model.ts';
import {
  hubDownloadHosts,
  hubUrl,
  type RecommendedModel,
  recommendedModels,
} from '../../stores/search/embedding/model-fetch/recommended-models.ts';
import { installRuntime } from '../../stores/search/embedding/onnx/install-runtime.ts';
import { ownFile } from '../../stores/search/embedding/onnx/model-folder.ts';
import { openOnnxEmbedder } from '../../stores/search/embedding/onnx/onnx-embedder.ts';
import { tryModel } from '../../stores/search/embedding/try-model.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { modelsFolder, readModelList, writeModelList } from '../settings/chosen-models.ts';
import { type Config, type Environment, parseConfig, processEnvironment } from '../settings/config.ts';
import { localMemoryMb } from './wire-embedding.ts';
import { isOnManyNodes } from './wire-node.ts';

export { type FetchedModel, hubUrl, type ModelRequest, type RecommendedModel };

/**
 * Downloads a model through the egress broker, with the settings of the service.
 * @throws ConfigError, OperatorError, or the reason of the aborted signal
 */
export function fetchModelFiles(
  environment: Environment,
  request: Omit<ModelRequest, 'advice'>,
  signal: AbortSignal,
): Promise<FetchedModel> {
  const missing = 'Check the address.';
  const advice = { missing, large: 'Check the address, or raise the limit with --max-mb.' };
  return download(parseConfig(environment), { ...request, advice, isNamed: true }, signal);
}

/** @param request `isNamed` says that the operator has named the address, so that it may be private */
async function download(
  { egressOverrides, egressAllow }: Config,
  { isNamed, ...request }: ModelRequest & { readonly isNamed: boolean },
  signal: AbortSignal,
): Promise<FetchedModel> {
  const { origin } = new URL(request.url);
  const named = isNamed ? ([[origin, egressOverrides.get(origin) ?? origin]] as const) : [];
  const broker = createBroker({
    overrides: new Map([...egressOverrides, ...named]),
    allow: egressAllow,
    version,
    logger: createLogger('silent'),
  });
  try {
    return await fetchModel(broker, request, signal);
  } finally {
    await broker.close();
  }
}

/** @throws OperatorError when no model has this name */
export function findRecommended(name: string): RecommendedModel {
  const names = recommendedModels.map((each) => each.name);
  const found = recommendedModels.find((each) => each.name === name);
  if (found !== undefined) return found;
  const meant = didYouMean(name, names);
  const question = meant === undefined ? '' : `Did you mean ${meant}? `;
  throw new OperatorError(`The model ${quoteText(name)} is not known. ${question}Known models: ${names.join(', ')}.`);
}

/** A recommended model, and what the store has done with it: the first model in use gets new collections. */
export interface ListedModel extends RecommendedModel {
  readonly state: 'in use' | 'former' | 'downloaded' | null;
}

export const listModels = (environment: Environment): Promise<ListedModel[]> => listModelsOf(parseConfig(environment));

export async function listModelsOf({ dataFolder }: Pick<Config, 'dataFolder'>): Promise<ListedModel[]> {
  const folder = modelsFolder(dataFolder);
  const [first, former] = readModelList(folder).in_use;
  const stateOf = async (name: string) => {
    if (name === first || name === former) return name === first ? 'in use' : 'former';
    return (await exists(join(folder, name))) ? 'downloaded' : null;
  };
  return Promise.all(recommendedModels.map(async (model) => ({ ...model, state: await stateOf(model.name) })));
}

export interface UseRequest extends Pick<ModelRequest, 'allowedHosts' | 'onProgress'> {
  readonly name: string;
  /** An address with the paths of the hub. */
  readonly mirror?: string | undefined;
  /** Installs the model here without putting it into use. */
  readonly folder?: string | undefined;
  /** Called before the runtime is installed. */
  readonly onRuntime: () => void;
  /** Called before the model is tried. */
  readonly onTrial?: () => void;
}

export interface UsedModel extends FetchedModel {
  /** The model whose vectors answer until those of this one are complete; null when there is none. */
  readonly former: string | null;
}

/** Like `chooseModel`, with the settings of the service. @throws ConfigError, or what that throws */
export async function useModel(environment: Environment, request: UseRequest, signal: AbortSignal): Promise<UsedModel> {
  findRecommended(request.name); // a wrong name is the first error to correct
  return chooseModel(parseConfig(environment), request, signal);
}

/**
 * Downloads a recommended model, tries it with one text and puts it into use. The checksums of the first download are kept, and later
 * downloads must have the same. Before the last step, the former model stays in use.
 * @throws OperatorError, or the reason of the aborted signal
 */
export async function chooseModel(config: Config, request: UseRequest, signal: AbortSignal): Promise<UsedModel> {
  const model = findRecommended(request.name);
  const folder = request.folder === undefined ? findOwnFolder(config, model) : resolve(request.folder);
  const home = dirname(folder);
  await createFolderPath(home, 0o700);
  const known = readModelList(home).sha256[model.path];
  await installRuntime(request.onRuntime, { signal, environment: processEnvironment() });
  await checkSpace(folder, model);
  const files = new Map(model.files.map((name) => [name, known?.[name] ?? null] as const));
  const fetched = await download(
    config,
    {
      url: `${withoutTrailingSlashes(request.mirror ?? hubUrl)}/${model.path}`,
      isNamed: request.mirror !== undefined,
      advice: {
        missing: `Check the connection, or name another address with the command "${commandName} embedding use" and its option --mirror.`,
        large: `The model has a smaller file. Name another address with the command "${commandName} embedding use" and its option --mirror.`,
      },
      checksums: { files },
      allowedHosts: [...hubDownloadHosts, ...request.allowedHosts],
      folder,
      maxBytes: Math.ceil(model.bytes * roundingError),
      onProgress: request.onProgress,
      async beforeInstall(temporary, checksums) {
        await writeFile(join(temporary, ownFile), `${JSON.stringify(model.settings)}\n`);
        request.onTrial?.();
        await tryFolder(temporary, model, signal);
        await keepChecksums(home, model, checksums);
      },
    },
    signal,
  );
  if (fetched.isUnchanged) await tryFolder(folder, model, signal);
  if (request.folder !== undefined) return { ...fetched, former: null };
  const { wanted: _, ...list } = readModelList(home);
  const former = list.in_use[0] === model.name ? undefined : list.in_use[0];
  const in_use = [model.name, ...(former === undefined ? [] : [former])];
  await writeModelList(home, { ...list, in_use });
  return { ...fetched, former: former ?? null };
}

/** The sizes of the table are rounded. */
const roundingError = 1.02;

/** Why the service would not use a model in its data folder, and what to do; null when it would. */
export function findObstacle(config: Config, name: string): string | null {
  if (!config.choosesModels) {
    return `QUARTERMASTER_EMBEDDING_PROVIDER is ${quoteText(config.embeddingProvider)}, and settings take precedence. Remove this setting first.`;
  }
  if (!isOnManyNodes(config)) return null;
  return `This store can have several nodes, which share no folder. On the machine of each node, run "${commandName} embedding use ${name} --folder FOLDER" with a new folder named ${name}, and then set QUARTERMASTER_EMBEDDING_PROVIDER=onnx and QUARTERMASTER_EMBEDDING_MODEL to this folder for all nodes.`;
}

/** @throws OperatorError when the service would not use the model in this folder */
function findOwnFolder(config: Config, { name }: RecommendedModel): string {
  const obstacle = findObstacle(config, name);
  if (obstacle !== null) throw new OperatorError(obstacle);
  return join(modelsFolder(config.dataFolder), name);
}

async function checkSpace(folder: string, { bytes, name }: RecommendedModel): Promise<void> {
  if (await exists(folder)) return;
  const free = await freeBytes(dirname(folder));
  if (free >= bytes) return;
  const [wanted, found] = [bytes, free].map((count) => Math.floor(count / 1_000_000));
  throw new OperatorError(
    `${name} needs ${wanted} MB, and the disk of ${dirname(folder)} has ${found} MB left. Free some space.`,
  );
}

/** @throws OperatorError when the model cannot be loaded, or is another one than expected */
async function tryFolder(folder: string, { name, dimensions }: RecommendedModel, signal: AbortSignal): Promise<void> {
  const embedder = await openOnnxEmbedder({
    folder,
    dimensions: null,
    threads: 1,
    memoryMb: localMemoryMb,
    timeoutMs: 30_000,
    batchSize: 1,
    logger: createLogger('silent'),
  });
  try {
    const trial = await tryModel(embedder, null, signal);
    if (trial.problem !== null) throw new OperatorError(`${name} failed: ${trial.problem}`);
    if (trial.dimensions === dimensions) return;
    throw new OperatorError(
      `${name} returned a vector of ${trial.dimensions} dimensions instead of ${dimensions}. Check the address.`,
    );
  } finally {
    await embedder.close();
  }
}

async function keepChecksums(home: string, { path }: RecommendedModel, checksums: Checksums): Promise<void> {
  const list = readModelList(home);
  await writeModelList(home, { ...list, sha256: { ...list.sha256, [path]: Object.fromEntries(checksums) } });
}
