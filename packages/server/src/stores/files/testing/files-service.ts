import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { noAudit } from '../../../platform/audit/testing/no-audit.ts';
import type { Caller } from '../../../platform/caller.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createApp } from '../../../platform/http/create-app.ts';
import { createDrain } from '../../../platform/http/drain.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { listen } from '../../../platform/http/listen.ts';
import { createRequestMetrics } from '../../../platform/http/request-metrics.ts';
import { createIdempotency } from '../../../platform/idempotency/idempotency.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { everyPermission } from '../../../platform/permissions.ts';
import { Problem } from '../../../platform/problem.ts';
import { checkDatabase, repairIndex } from '../../../storage/check/check-database.ts';
import { openDiskBlobStore } from '../../../storage/disk/disk-blob-store.ts';
import { openDatabase } from '../../../storage/open-database.ts';
import { createBlobRepository } from '../../../storage/repositories/blob-repository.ts';
import { createFileRepository } from '../../../storage/repositories/file-repository.ts';
import { createIdempotencyRepository } from '../../../storage/repositories/idempotency-repository.ts';
import { createDownloadOrder } from '../download-order.ts';
import { createDamageReport } from '../maintenance/report-damage.ts';
import { createQuota } from '../quota.ts';
import { fileRoutes } from '../routes.ts';
import { createAdmissions } from '../upload/admission.ts';
import { createUploads } from '../upload/upload.ts';
import { type Answer, readAnswer } from './raw-answer.ts';

export interface FilesServiceOptions {
  readonly folder?: string;
  /** The URL of a PostgreSQL database; by default SQLite in the folder is used. */
  readonly databaseUrl?: string;
  readonly maxFileBytes?: number;
  readonly maxProjectBytes?: number;
  readonly maxFiles?: number;
  readonly maxUploadsInFlight?: number;
  readonly idle?: number;
  readonly lease?: number;
}

/** Starts the files module with real sockets and a fixed guard: the token is the project, or `project.key`. */
export async function startFilesService(options: FilesServiceOptions = {}) {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'quartermaster-files-')));
  const logger = createLogger('silent');
  const admission = createAdmission();
  const database = await openDatabase({ admission, url: options.databaseUrl ?? null, dataFolder: folder, logger });
  const blobs = await openDiskBlobStore(folder);
  const files = createFileRepository(database);
  const idempotency = createIdempotency({
    repository: createIdempotencyRepository(database),
    clock: systemClock,
    logger,
    times: { lease: options.lease ?? 30_000, memory: 3_600_000 },
  });
  const limits = {
    maxFileBytes: options.maxFileBytes ?? 64 * 1024 * 1024,
    maxProjectBytes: options.maxProjectBytes ?? null,
    maxUploadsInFlight: options.maxUploadsInFlight ?? 256,
  };
  const app = createApp({
    logger,
    address: 'files',
    requestMetrics: createRequestMetrics(createMetrics()),
    drain: createDrain(),
    audit: noAudit,
  });
  const admissions = createAdmissions({ admission, idempotency, assertAvailable: database.assertAvailable, ...limits });
  const damages = createBlobRepository(database);
  const reportDamage = createDamageReport({ damages, blobs, clock: systemClock, logger });
  const uploads = createUploads({
    blobs,
    files,
    reportDamage,
    quota: createQuota(files, { maxProjectBytes: limits.maxProjectBytes, maxFiles: options.maxFiles ?? null }),
    clock: systemClock,
    newId: createNewId(),
    logger,
    maxFileBytes: limits.maxFileBytes,
    minimumRate: { idle: options.idle ?? 30_000, grace: 10_000, bytesPerSecond: 1024 },
  });
  fileRoutes(app, {
    guard: createFixedGuard(),
    admissions,
    uploads,
    files,
    blobs,
    reportDamage,
    downloadOrder: createDownloadOrder(admission),
    limits,
    listedLimits: [],
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0, setting: 'QUARTERMASTER_FILES_PORT' });
  const port = Number(new URL(server.url).port);

  let isStopped = false;
  async function stop(keep: 'keep' | 'remove' = 'remove'): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await server.close(0);
    await blobs.close();
    await database.close();
    if (keep === 'remove') await rm(folder, { recursive: true });
  }

  return {
    folder,
    database,
    blobs,
    files,
    damages,
    reportDamage,
    admissions,
    url: server.url,
    port,
    /** Sends these bytes over a new socket with the given pauses, and reads the first response. */
    async send(pieces: ReadonlyArray<Buffer | string>): Promise<Answer> {
      const socket = connect(port, '127.0.0.1');
      for (const piece of pieces) if (!socket.write(piece)) await drained(socket);
      const answer = await readAnswer(socket);
      socket.destroy();
      return answer;
    },
    connect: () => connect(port, '127.0.0.1'),
    /** Returns the names in the staging folder and of all blobs. */
    async onDisk(): Promise<{ staging: string[]; blobs: string[] }> {
      const found: string[] = [];
      for await (const blob of blobs.list()) found.push(blob.blobId);
      return { staging: await readdir(join(folder, 'staging')), blobs: found };
    },
    /** The dependencies of `checkStore` and of the quarantine. */
    admin: {
      files,
      blobs,
      damages,
      reportDamage,
      clock: systemClock,
      newId: createNewId(),
      checkDatabase: () => checkDatabase(database),
      repairIndex: (collectionId: string) => repairIndex(database, collectionId),
    },
    quarantined: () => readdir(join(folder, 'quarantine')),
    /** Returns the path of the bytes of a file of `projecta`. */
    async pathOf(fileId: string): Promise<string> {
      const blobId = (await files.find('projecta', fileId))?.blobId ?? '';
      return join(folder, 'blobs', blobId.slice(4, 8), blobId);
    },
    rows: (table: 'file' | 'blob' | 'idempotency') => database.read.selectFrom(table).selectAll().execute(),
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}
export type FilesService = Awaited<ReturnType<typeof startFilesService>>;

async function drained(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', resolve);
    // A response may precede the end of the body; its reader handles it.
    socket.once('readable', resolve);
  });
}

function createFixedGuard(): Guard {
  const callers = new WeakMap<object, Caller>();
  return {
    requires: () => async (request) => {
      const [, project, keyId = 'key'] = /^Bearer (\w+)(?:\.(\w+))?$/.exec(request.headers.authorization ?? '') ?? [];
      if (project === undefined) throw new Problem('APIKEY_VALIDATION_FAILED', 'The API key is not valid.');
      callers.set(request, { projectId: project, keyId, permissions: everyPermission });
    },
    callerOf: (request) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error('no guard');
      return caller;
    },
  };
}
