import { after, type TestContext } from 'node:test';
import type { Purpose } from '@quartermaster/contract';
import type { CollectionContext } from '../../../app/service/collection-context.ts';
import { openCollectionServices } from '../../../app/service/collection-services.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createStreamShares } from '../../../platform/admission/stream-shares.ts';
import { noAudit } from '../../../platform/audit/testing/no-audit.ts';
import { systemClock } from '../../../platform/clock.ts';
import { once } from '../../../platform/concurrency/once.ts';
import { createApp } from '../../../platform/http/create-app.ts';
import { createDrain } from '../../../platform/http/drain.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { createRequestMetrics } from '../../../platform/http/request-metrics.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { everyPermission } from '../../../platform/permissions.ts';
import { Problem } from '../../../platform/problem.ts';
import { closeAll } from '../../../platform/server-process/fatal-error.ts';
import type { Database } from '../../../storage/database/database.ts';
import { type DatabaseKind, temporaryDatabases } from '../../../storage/database/testing/temporary-databases.ts';
import { createCollectionRepositories } from '../../../storage/repositories/records/collection-repositories.ts';
import type { Extractor } from '../../extraction/extraction.ts';
import { openPageReader, type PageReaderOptions } from '../../extraction/pages/open-page-reader.ts';
import { countTokens } from '../../extraction/tokens.ts';
import { openExtractor } from '../../extraction/worker/open-extractor.ts';
import type { AccessibleFile, FileAccess } from '../../files/file-access.ts';
import type { PageFetcher } from '../../ingestion/page-fetcher.ts';
import type { RecordJobRepository } from '../../ingestion/record-job-repository.ts';
import type { RecordMetrics } from '../../ingestion/record-metrics.ts';
import type { Embedder } from '../../search/embedding/embedder.ts';
import { openVectorIndex } from '../../search/vector-codes/open-vector-index.ts';
import { collectionRoutes } from '../routes.ts';

/* Tests of collections start the routes over the real database and the real extractor, in one process. */

export const newId = createNewId();
export const silent = createLogger('silent');

const opened = new WeakMap<TestContext, AsyncDisposableStack>();

/**
 * Closes the resource with the test, in the reverse order of opening. `t.after` alone would keep the order of opening.
 */
function closeWith(t: TestContext, close: () => Promise<void>): void {
  let resources = opened.get(t);
  if (resources === undefined) {
    const created = new AsyncDisposableStack();
    resources = created;
    opened.set(t, created);
    t.after(() => closeAll(created));
  }
  resources.defer(close);
}

export interface TestCollectionsOptions {
  readonly database?: Database;
  readonly extractor?: Extractor;
  readonly pages?: PageFetcher;
  readonly pageReader?: Partial<PageReaderOptions>;
  readonly timing?: CollectionContext['timing'];
  readonly files?: TestFiles;
  readonly encrypter?: CollectionContext['encrypter'];
  readonly alone?: boolean;
  readonly limits?: Partial<CollectionContext['limits']>;
  /** The quota of each project. */
  readonly maxProjectBytes?: number;
  /** Replaces the repository with a defective one. */
  readonly jobs?: RecordJobRepository;
  readonly embedder?: Embedder;
  readonly furtherEmbedders?: readonly Embedder[];
  readonly priceOf?: (model: string) => number | null;
  readonly dimensionsOf?: (model: string) => number | null;
  readonly metrics?: RecordMetrics;
  readonly reranking?: CollectionContext['reranking'];
}

/** Opens an empty SQLite database that is deleted with the test. */
export const openTestDatabase = (t: TestContext) => openFor(t, 'SQLite');

/** Opens an empty PostgreSQL database that is deleted with the test. */
export const openTestPostgres = (t: TestContext) => openFor(t, 'PostgreSQL');

async function openFor(t: TestContext, kind: DatabaseKind): Promise<Database> {
  const { database, close } = await temporaryDatabases[kind]();
  closeWith(t, close);
  return database;
}

export interface TestFiles extends FileAccess {
  add(projectId: string, purpose: Purpose, name: string, bytes: Uint8Array | string): string;
  remove(fileId: string): void;
}

/** Provides files like the files module, from memory. */
export function createTestFiles(): TestFiles {
  const files = new Map<string, AccessibleFile & { content: Uint8Array }>();
  return {
    add(projectId, purpose, name, data) {
      const content = typeof data === 'string' ? Buffer.from(data) : data;
      const extension = name.slice(name.lastIndexOf('.') + 1) as AccessibleFile['extension']; // tests use known ones
      const id = newId('file');
      files.set(id, {
        id,
        projectId,
        blobId: id,
        name,
        purpose,
        extension,
        bytes: content.byteLength,
        sha256: '',
        content,
      });
      return id;
    },
    remove: (fileId) => void files.delete(fileId),
    async findFile(projectId, fileId) {
      const file = files.get(fileId);
      return file?.projectId === projectId ? file : undefined;
    },
    async *open(file) {
      const found = files.get(file.id);
      if (found === undefined) throw new Error('the bytes are gone');
      yield found.content;
    },
  };
}

/** The key names the project of a request: `Bearer <project id>` or `Bearer <project id>.<key id>`. */
const guard: Guard = {
  requires: () => async (request) => {
    if (request.headers.authorization === undefined) throw new Problem('APIKEY_VALIDATION_FAILED', 'no key');
  },
  callerOf: (request) => {
    const [projectId = '', keyId = 'apik'] = String(request.headers.authorization).slice('Bearer '.length).split('.');
    return { projectId, keyId, permissions: everyPermission };
  },
};

/**
 * The extractor of the tests of a file. Its process reads for one project only, so the first project of each service with a
 * database of its own has the same id.
 */
const openShared = once(() => openExtractor({ admission: createAdmission(), processes: 1, logger: silent }));
const firstProjectId = newId('project');
after(() => openShared().close());

/** Opens the services of collections without HTTP. `close` may be called before the test ends. */
export function openTestCollections(
  t: TestContext,
  database: Database,
  options: TestCollectionsOptions & { files: FileAccess },
) {
  const admission = createAdmission();
  const extractor = options.extractor ?? openShared();
  const services = openCollectionServices({
    repositories: {
      ...createCollectionRepositories(database, options.maxProjectBytes),
      ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
    },
    files: options.files,
    admission,
    shares: createStreamShares({ admission }),
    encrypter: options.encrypter ?? null,
    metrics: options.metrics,
    reranking: options.reranking,
    extractor,
    pageReader: openPageReader({ admission, memoryMb: 1024, logger: silent, ...options.pageReader }),
    pages: options.pages ?? {
      fetch: async () => ({ kind: 'failed', code: 'page_unreachable', message: 'No network.' }),
    },
    countTokens,
    clock: systemClock,
    newId,
    logger: silent,
    limits: { collections: 1_000, records: 100_000, waitingRecords: 10_000, ...options.limits },
    extractionProcesses: 2,
    embedding: options.embedder && {
      embedder: options.embedder,
      furtherEmbedders: options.furtherEmbedders ?? [],
      ...(options.priceOf && { priceOf: options.priceOf }),
      ...(options.dimensionsOf && { dimensionsOf: options.dimensionsOf }),
      openIndex: (readVectors) => openVectorIndex({ readVectors, memory: 64 * 1024 * 1024, logger: silent }),
    },
    alone: options.alone ?? false,
    timing: { pollMs: 50, backoffMs: 10, ...options.timing },
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= services.close().then(() => options.extractor?.close());
    return closed;
  };
  closeWith(t, close);
  return { ...services, close };
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the body like a client without types
  readonly body: any;
}

/** Serves the collections over HTTP in this process. */
export async function openTestService(t: TestContext, options: TestCollectionsOptions = {}) {
  const database = options.database ?? (await openTestDatabase(t));
  const files = options.files ?? createTestFiles();
  const services = openTestCollections(t, database, { ...options, files });
  const requestMetrics = createRequestMetrics(createMetrics());
  const app = createApp({ logger: silent, address: 'files', requestMetrics, drain: createDrain(), audit: noAudit });
  collectionRoutes(app, { guard, ...services });
  await app.ready();
  closeWith(t, () => app.close());

  // Several services of one database have different projects.
  const shared = options.database === undefined ? [firstProjectId] : [];

  /** Returns a client of the project that sends and receives JSON. */
  function createProject(projectId = shared.pop() ?? newId('project'), keyId = 'apik') {
    const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, body?: unknown): Promise<Answer> => {
      const headers = { authorization: `Bearer ${projectId}.${keyId}`, 'content-type': 'application/json' };
      const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
      const answer = await app.inject({ method, url, headers, ...payload });
      return { status: answer.statusCode, body: answer.body === '' ? undefined : JSON.parse(answer.body) };
    };
    const settled = async (collectionId: string, recordId: string) => {
      const key = { projectId, collectionId, recordId };
      for await (const _ of services.events.follow(key, 'key', t.signal));
      return (await call('GET', `/v1/collections/${collectionId}/records/${recordId}`)).body.data;
    };
    const collection = async (body: object = {}): Promise<string> =>
      (await call('POST', '/v1/collections', body)).body.data.collection_id;
    const record = async (collectionId: string, body: object) => {
      const answer = await call('POST', `/v1/collections/${collectionId}/records`, body);
      return settled(collectionId, answer.body.data.record_id);
    };
    return { projectId, call, settled, collection, record };
  }

  return { database, files, services, app, createProject };
}

/** Serves a new collection of a new project over HTTP in this process. */
export async function openTestCollection(t: TestContext, options: TestCollectionsOptions = {}, body: object = {}) {
  const service = await openTestService(t, options);
  const project = service.createProject();
  return { ...service, ...project, collectionId: await project.collection(body) };
}
