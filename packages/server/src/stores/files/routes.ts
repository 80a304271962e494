import { type Limit, purposeNames, purposes } from '@quartermaster/contract';
import { fileOperations } from '@quartermaster/contract/operations';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acknowledgement, listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard } from '../../platform/http/guard.ts';
import { readIdempotencyKey } from '../../platform/idempotency/idempotency.ts';
import { fileReachOf } from '../../platform/permissions.ts';
import { objectNotFound } from '../../platform/problem.ts';
import { warningsOfNames } from '../../platform/validation/ignored-members.ts';
import { withScope } from '../../platform/with-scope.ts';
import { BlobMissing, type BlobStore } from './blob-store.ts';
import { deleteFile } from './delete-file.ts';
import type { DownloadOrder } from './download-order.ts';
import { answerContent } from './file-content.ts';
import type { FileRepository, StoredFile } from './file-repository.ts';
import { listFiles } from './list-files.ts';
import type { ReportDamage } from './maintenance/report-damage.ts';
import { bodyCutShort, fileOfOthers } from './problems.ts';
import type { Admission, Admissions } from './upload/admission.ts';
import { toWire, type Uploads } from './upload/upload.ts';

export interface FileRoutesDeps {
  readonly guard: Guard;
  readonly admissions: Admissions;
  readonly uploads: Uploads;
  readonly files: FileRepository;
  readonly blobs: BlobStore;
  readonly reportDamage: ReportDamage;
  readonly downloadOrder: DownloadOrder;
  /** The limits that `GET /v1/limits` lists, with the values in force. */
  readonly listedLimits: readonly Limit[];
  readonly limits: {
    readonly maxFileBytes: number;
    /** null means no quota. */
    readonly maxProjectBytes: number | null;
    readonly maxUploadsInFlight: number;
  };
}

/** Registers the routes of files. Source: docs/contract.md "Upload", docs/contract.md "Files". */
export function fileRoutes(app: App, deps: FileRoutesDeps): void {
  // Only in this scope, multipart/form-data reaches the handler unparsed.
  app.register(async (scope: App) => uploadRoute(scope, deps));
  fileListRoute(app, deps);
  fileRoute(app, deps);
  contentRoute(app, deps);
  limitsRoute(app, deps);
}

const mostReferences = 100;

function uploadRoute(app: App, deps: FileRoutesDeps): void {
  // Holds an admission from the headers to the start of the handler, which then owns it.
  const admissions = new WeakMap<FastifyRequest, Admission>();

  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = deps.guard.callerOf(request);
    const admission = await deps.admissions.admit({
      projectId: caller.projectId,
      callerId: caller.keyId,
      uploaderId: caller.permissions.collections === null ? null : caller.keyId,
      contentType: request.headers['content-type'],
      contentEncoding: request.headers['content-encoding'],
      contentLength: readLength(request.headers['content-length']),
      idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
    });
    admissions.set(request, admission);
    const releaseAdmission = () => {
      if (admissions.delete(request)) admission.release().catch((error) => request.log.error({ err: error }));
    };
    reply.raw.once('close', releaseAdmission);
    if (!request.raw.destroyed) return;
    releaseAdmission();
    throw bodyCutShort();
  }

  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload));
  app.post(
    '/v1/files',
    {
      onRequest: [deps.guard.requires('files'), admit],
      validatorCompiler: () => () => true,
      schema: fileOperations.uploadFile,
    },
    async (request) => {
      const admission = admissions.get(request);
      if (admission === undefined) throw bodyCutShort();
      admissions.delete(request);
      try {
        const { file, ignored } = await deps.uploads.receive(admission, request.raw);
        return {
          ...successEnvelope(file),
          ...warningsOfNames(ignored, Object.keys(fileOperations.uploadFile.body.properties)),
        };
      } finally {
        await admission.release();
      }
    },
  );
}

function readLength(header: string | undefined): number | undefined {
  return header === undefined ? undefined : Number(header);
}

function fileListRoute(app: App, { guard, files }: FileRoutesDeps): void {
  app.get('/v1/files', withScope(guard, fileOperations.listFiles), async (request) => {
    const caller = guard.callerOf(request);
    const place = { projectId: caller.projectId, reach: fileReachOf(caller.permissions) };
    const page = await listFiles(files, place, request.query);
    return listEnvelope({ ...page, items: page.items.map(toWire) });
  });
}

async function getFile(deps: FileRoutesDeps, request: FastifyRequest, fileId: string): Promise<StoredFile> {
  const caller = deps.guard.callerOf(request);
  const file = await deps.files.find(caller.projectId, fileId, fileReachOf(caller.permissions));
  if (file === undefined) throw objectNotFound('file', fileId);
  return file;
}

function fileRoute(app: App, deps: FileRoutesDeps): void {
  app.get('/v1/files/:file_id', withScope(deps.guard, fileOperations.getFile), async (request) => {
    const file = await getFile(deps, request, request.params.file_id);
    const { permissions } = deps.guard.callerOf(request);
    const options = { limit: mostReferences, reach: fileReachOf(permissions) };
    const seesRecords = permissions.has('collections:read');
    const found = seesRecords ? await deps.files.references(file.projectId, file.id, options) : [];
    const references = found.map((record) => ({ collection_id: record.collectionId, record_id: record.recordId }));
    return successEnvelope({ ...toWire(file), references });
  });
  app.delete('/v1/files/:file_id', withScope(deps.guard, fileOperations.deleteFile), async (request) => {
    const caller = deps.guard.callerOf(request);
    const reach = fileReachOf(caller.permissions);
    if (reach !== null) {
      const { id, uploaderId } = await getFile(deps, request, request.params.file_id);
      if (!reach.keyIds.has(uploaderId ?? '')) throw fileOfOthers(id);
    }
    const id = request.params.file_id;
    await deleteFile(deps, caller.projectId, id);
    await request.server.audit.record(request, { action: 'file.deleted', id });
    return acknowledgement;
  });
}

function contentRoute(app: App, deps: FileRoutesDeps): void {
  async function send(request: FastifyRequest, reply: FastifyReply, fileId: string): Promise<FastifyReply> {
    const asked = {
      range: request.headers.range,
      ifRange: readText(request.headers['if-range']),
      ifNoneMatch: request.headers['if-none-match'],
      headOnly: request.method === 'HEAD',
    };
    const find = async () => answerContent(deps, await getFile(deps, request, fileId), asked);
    const answer = await find().catch((error: unknown) => {
      // The file was deleted, or its blob replaced, after its row was read.
      if (error instanceof BlobMissing) return find();
      throw error;
    });
    reply.code(answer.status).headers(answer.headers);
    return reply.send(answer.body ?? undefined);
  }
  const url = '/v1/files/:file_id/content';
  const onRequest = deps.guard.requires('files:read');
  app.head(url, { onRequest, schema: { params: fileOperations.getFileContent.params, hide: true } }, (request, reply) =>
    send(request, reply, request.params.file_id),
  );
  app.get(url, { onRequest, exposeHeadRoute: false, schema: fileOperations.getFileContent }, (request, reply) =>
    send(request, reply, request.params.file_id),
  );
}

function readText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

function limitsRoute(app: App, { guard, admissions, files, limits, listedLimits }: FileRoutesDeps): void {
  app.get('/v1/limits', withScope(guard, fileOperations.getLimits), async (request) => {
    const caller = guard.callerOf(request);
    const { projectId } = caller;
    // These sums are about all files of the project.
    const isLimited = fileReachOf(caller.permissions) !== null;
    const used = isLimited ? null : await files.bytesKept(projectId);
    const max = limits.maxProjectBytes;
    const data = {
      purposes: Object.fromEntries(
        purposeNames.map((name) => [
          name,
          { extensions: [...purposes[name].extensions], max_bytes: limits.maxFileBytes },
        ]),
      ),
      rate: {
        uploads_in_flight: isLimited ? null : admissions.inFlight(projectId),
        max_uploads_in_flight: limits.maxUploadsInFlight,
      },
      quota: {
        bytes_used: used,
        max_bytes: max,
        bytes_left: max === null || used === null ? null : Math.max(0, max - used),
      },
      limits: [...listedLimits],
    };
    return successEnvelope(data);
  });
}
