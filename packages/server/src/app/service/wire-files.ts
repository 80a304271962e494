import type { Encrypter } from '../../access/credential-profiles/encryption.ts';
import { onceRetried } from '../../platform/concurrency/once.ts';
import { basePathOf } from '../../platform/http/base-path.ts';
import { createErrorWriter, handleNotFound } from '../../platform/http/error-writer.ts';
import type { Guard, ManagerGuard } from '../../platform/http/guard.ts';
import { collectOpenApi } from '../../platform/http/openapi/openapi.ts';
import { operationRoutes } from '../../platform/http/openapi/operations.ts';
import type { SpawnSettings } from '../../platform/processes/isolation/spawn-isolated.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { version } from '../../platform/version.ts';
import { createCollectionRepositories } from '../../storage/repositories/records/collection-repositories.ts';
import { collectionRoutes } from '../../stores/collections/routes.ts';
import type { Extractor } from '../../stores/extraction/extraction.ts';
import {
  createOcrMetrics,
  noOcr,
  type OcrEngine,
  type OcrMetrics,
  ocrBounds,
  openOcr,
} from '../../stores/extraction/ocr/open-ocr.ts';
import { createPageMetrics, openPageReader } from '../../stores/extraction/pages/open-page-reader.ts';
import { openExtractor } from '../../stores/extraction/worker/open-extractor.ts';
import { findReaderIsolation } from '../../stores/extraction/worker/reader-isolation.ts';
import { createFileAccess } from '../../stores/files/list-files.ts';
import { createQuota } from '../../stores/files/quota.ts';
import { fileRoutes } from '../../stores/files/routes.ts';
import { createAdmissions } from '../../stores/files/upload/admission.ts';
import { createTemporaryFiles, type TemporaryFiles } from '../../stores/files/upload/temporary-file.ts';
import { createUploads } from '../../stores/files/upload/upload.ts';
import { createRecordMetrics } from '../../stores/ingestion/record-metrics.ts';
import { measureText } from '../../stores/search/analysis/measure-text.ts';
import { createQuestionMetrics } from '../../stores/search/query/limit-questions.ts';
import { createHttpReranker, rerankingProviders } from '../../stores/search/reranking/http-reranker.ts';
import type { RerankDeps } from '../../stores/search/reranking/rerank-hits.ts';
import { createRerankerMetrics, pauseReranker } from '../../stores/search/reranking/reranker.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { fetchPage } from '../../tools/egress/fetch-page.ts';
import type { KnowledgeStore } from '../../tools/mcp/knowledge/knowledge-store.ts';
import { createConsoleFiles } from '../console/console-files.ts';
import { consoleRoutes, referenceRoutes } from '../console/routes.ts';
import { createLoaderMetrics } from '../dialects/open-webui/load-document.ts';
import { dialectRoutes } from '../dialects/routes.ts';
import type { CollectionContext } from './collection-context.ts';
import { type CollectionServices, openCollectionServices } from './collection-services.ts';
import type { ListenAddress, ServiceContext } from './context.ts';
import { listLimits, recordBounds } from './list-limits.ts';
import { openAccess } from './open-access.ts';
import { serveAccess } from './wire-access.ts';
import { openStoredFiles, type StoredFiles } from './wire-blobs.ts';
import { createEmbeddingModels, modelsOf, type OpenModels } from './wire-embedding.ts';
import { serveInstallation } from './wire-installation.ts';
import { serveModels } from './wire-models.ts';

/** The memory of the process that reads a document, and of OCR. */
const extractionMemoryMb = 1536;
const questionSeconds = 10;

/** The minimum rate of an upload: bytes per second on average, after the grace period. One without data is aborted earlier. */
const minUploadBytesPerSecond = 1024;
const uploadGraceMs = 10_000;
const uploadIdleMs = 30_000;
const taskPauseMs = 3_600_000;

export interface FilesAddress extends ListenAddress {
  readonly guard: Guard;
  /** The collections, for the knowledge tools of MCP. */
  readonly knowledge: KnowledgeStore;
  readonly stored: StoredFiles;
  readonly installation: ReturnType<typeof serveInstallation>;
  readonly managerGuard: ManagerGuard;
}

/** Opens the files address: files, collections, records, chunks, administrators, projects and keys. */
export async function openFilesAddress(context: ServiceContext, encrypter: Encrypter | null): Promise<FilesAddress> {
  const { config, clock, logger } = context;
  const stored = await openStoredFiles(context);
  const { blobs } = stored;
  const sweep = () => context.idempotencyRepository.sweep(clock.now());
  context.startTasks([{ name: 'forget answers', pause: taskPauseMs, run: sweep }]);
  const collections = await openCollections(context, { files: createFileAccess(stored), encrypter });

  const access = openAccess(context, blobs.remove);
  const { guard } = access;
  const app = context.newApp('files');
  const basePath = basePathOf(config.publicFilesUrl);
  await collectOpenApi(app, {
    title: 'Quartermaster: files',
    description: 'Stores files, and creates searchable collections of records from them.',
    address: 'FILES',
    version,
    serverUrl: basePath === '' ? null : config.publicFilesUrl,
    keyRequired: true,
    sessions: true,
  });
  operationRoutes(app, {
    version,
    registry: context.registry,
    facts: () => ({ version, database: context.database.dialect }),
    parts: { ...context.parts, blobs: () => blobs.check() },
    conditions: stored.conditions,
    guardMetrics: guard.requires('metrics'),
  });
  const temporaryFiles = addFileRoutes(context, app, { ...stored, guard });
  collectionRoutes(app, { guard, ...collections });
  dialectRoutes(app, {
    guard,
    createErrorWriter,
    handleNotFound,
    ...collections,
    temporaryFiles,
    loaderMetrics: createLoaderMetrics(context.registry),
    logger,
  });
  serveAccess(context, app, access);
  await serveModels(context, app, { ...collections, guard: access.projectRoutes.guard });
  const installation = serveInstallation(context, app, { ...stored, guard: access.projectRoutes.guard });
  const consoleFiles = createConsoleFiles();
  consoleRoutes(app, { files: consoleFiles, basePath });
  referenceRoutes(app, { files: consoleFiles, basePath });
  // Each file is verified again when it is served. This check logs changes at the start.
  void consoleFiles.findChanged().then((files) => {
    if (files.length > 0) context.logger.error({ files }, 'console files changed');
  });
  const knowledge = {
    ...collections,
    countTokens: async (text: string) => (await measureText(text, countTokens)).numTokens,
    consoleUrl: context.consoleUrl,
  };
  const own = { guard, managerGuard: access.projectRoutes.guard, installation, port: config.filesPort };
  return { app, ...own, knowledge, stored, endStreams: () => collections.events.close() };
}

interface FileParts extends StoredFiles {
  readonly guard: Guard;
}

function addFileRoutes(
  { config, clock, newId, logger, database, idempotency, admission }: ServiceContext,
  app: ListenAddress['app'],
  parts: FileParts,
): TemporaryFiles {
  const { maxFileBytes, maxProjectBytes, maxFiles, maxUploadsInFlight } = config;
  const assertAvailable = database.assertAvailable;
  const admissions = createAdmissions({ idempotency, admission, assertAvailable, maxFileBytes, maxUploadsInFlight });
  const minimumRate = {
    idle: uploadIdleMs,
    grace: uploadGraceMs,
    bytesPerSecond: minUploadBytesPerSecond,
  };
  fileRoutes(app, {
    ...parts,
    admissions,
    uploads: createUploads({
      ...parts,
      quota: createQuota(parts.files, { maxProjectBytes, maxFiles }),
      clock,
      newId,
      logger,
      maxFileBytes,
      minimumRate,
    }),
    limits: { maxFileBytes, maxProjectBytes, maxUploadsInFlight },
    listedLimits: listLimits(config),
  });
  return createTemporaryFiles({ admissions, blobs: parts.blobs, newId, maxFileBytes, minimumRate });
}

/**
 * The tokenizer's table takes 30 MB. It is loaded when a chunk is first created directly, or a text is first cut for an MCP client,
 * which many services never do.
 */
async function countTokens(text: string): Promise<number> {
  return (await import('../../stores/extraction/tokens.ts')).countTokens(text);
}

function openPages({ registry, admission, logger }: ServiceContext, isolation: () => Promise<SpawnSettings>) {
  return openPageReader({
    isolation,
    memoryMb: extractionMemoryMb,
    onResult: createPageMetrics(registry),
    admission,
    logger,
  });
}

/** A separate broker without credentials, because pages may come from any public address. */
function createPageBroker({ config, logger }: ServiceContext) {
  const { egressOverrides: overrides, egressAllow: allow, contact } = config;
  return createBroker({ overrides, allow, version, contact, logger });
}

async function openCollections(
  context: ServiceContext,
  { files, encrypter }: Pick<CollectionContext, 'files' | 'encrypter'>,
): Promise<CollectionServices & { readonly extractor: Extractor; readonly openModels: OpenModels }> {
  const { config, clock, newId, logger, resources, database } = context;
  const isolation = onceRetried(() => findReaderIsolation(logger));
  // Started early so that errors appear in the log of the start. After a failure the next document tries again.
  const isFound = isolation().then(
    () => {},
    (cause: unknown) => logger.error({ err: cause }, 'document readers not started'),
  );
  resources.defer(() => isFound);
  const metrics = createOcrMetrics(context.registry);
  const ocr = onceRetried(async () => openPageReading({ ...context, metrics }, await isolation()));
  if (config.ocr === 'on') await ocr();
  const extractor = openExtractor({
    isolation,
    ocr,
    processes: config.extractionProcesses,
    timeoutMs: config.extractionSeconds * 1000,
    memoryMb: extractionMemoryMb,
    admission: context.admission,
    logger,
  });
  resources.defer(() => extractor.close());
  const broker = createPageBroker(context);
  resources.defer(() => broker.close());
  const repositories = createCollectionRepositories(database, config.maxProjectBytes);
  database.startMaintenance(() => context.space.hasFreeSpace());
  const { open: openModels } = createEmbeddingModels(context, countTokens);
  const services = openCollectionServices({
    admission: context.admission,
    shares: context.shares,
    metrics: createRecordMetrics({ registry: context.registry, countRecords: repositories.records.countByStatus }),
    repositories,
    embedding: (await openModels(modelsOf(config))).parts,
    reranking: openReranking(context),
    files,
    encrypter,
    space: context.space,
    extractor,
    pageReader: openPages(context, isolation),
    pages: { fetch: fetchPage(broker) },
    countTokens,
    clock,
    newId,
    logger,
    limits: {
      ...recordBounds,
      records: config.maxRecords,
    },
    countExceeded: context.countExceeded,
    questions: { seconds: questionSeconds, metrics: createQuestionMetrics(context.registry) },
    extractionProcesses: config.extractionProcesses,
    // With SQLite the lock of the data folder excludes other processes.
    alone: database.dialect === 'sqlite',
  });
  resources.defer(() => services.close());
  return { ...services, extractor, openModels };
}

/**
 * Opens the reading of scanned pages.
 * @throws OperatorError when the setting requires it and this machine has no program for it
 */
async function openPageReading(
  { config, logger, metrics }: Pick<ServiceContext, 'config' | 'logger'> & { readonly metrics: OcrMetrics },
  isolation: SpawnSettings,
): Promise<OcrEngine> {
  if (config.ocr === 'off') return noOcr;
  const engine = await openOcr({
    program: 'tesseract',
    folders: config.programFolders,
    languages: [...new Set(config.ocrLanguages)],
    isolation,
    memoryMb: extractionMemoryMb,
    ...ocrBounds,
    logger,
    onPage: metrics.observe,
  });
  if (config.ocr === 'on' && engine.job.kind === 'missing')
    throw new OperatorError(`QUARTERMASTER_OCR is on, but scanned pages cannot be read. ${engine.job.remedy}`);
  return engine;
}

/** After this time the answer has the order of the search. */
const timeoutMs = 5000;

/** Creates the reranker that the settings name. Undefined without one. */
function openReranking({
  config,
  clock,
  logger,
  registry,
  resources,
}: Pick<ServiceContext, 'config' | 'clock' | 'logger' | 'registry' | 'resources'>): RerankDeps | undefined {
  const { rerankerProvider: provider, rerankerModel: model, rerankerKey: key } = config;
  if (provider === 'none' || model === null) return undefined;
  const url = config.rerankerUrl ?? rerankingProviders[provider].url;
  // A separate broker for one origin. The operator has named the origin, so it may have a private address.
  const { origin } = new URL(url);
  const overrides = new Map([[origin, config.egressOverrides.get(origin) ?? origin]]);
  const broker = createBroker({ overrides, allow: [], version, logger });
  const reranker = createHttpReranker({ provider, broker, url, model, key, timeoutMs });
  resources.defer(() => reranker.close());
  return { reranker: pauseReranker(reranker, clock), metrics: createRerankerMetrics(registry), logger };
}
