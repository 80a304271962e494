import { artifactOperations } from '@quartermaster/contract/operations';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../platform/clock.ts';
import { acknowledgement, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard } from '../../platform/http/guard.ts';
import { identify } from '../../platform/log/request-identity.ts';
import { objectNotFound } from '../../platform/problem.ts';
import { readProject } from '../../platform/project-text.ts';
import { withScope } from '../../platform/with-scope.ts';
import { BlobMissing } from '../../stores/files/blob-store.ts';
import { answerContent, type ServedContentDeps } from '../../stores/files/file-content.ts';
import type { StoredArtifact } from '../../stores/files/file-repository.ts';
import type { ArtifactStore } from './artifact-store.ts';
import type { ArtifactUrls } from './artifact-urls.ts';

export interface ArtifactRoutesDeps extends ServedContentDeps {
  readonly store: ArtifactStore;
  readonly urls: ArtifactUrls;
  readonly clock: Clock;
  readonly guard: Guard;
}

/**
 * Registers the routes of artifacts. A key reaches those of its project, a signed URL one of them. The id of an artifact always needs
 * a key, also where plugins need none. Source: ADR 0097.
 */
export function artifactRoutes(app: App, deps: ArtifactRoutesDeps): void {
  const { store, guard } = deps;
  /** A key that is limited to tools sees the artifacts of its own runs, and those of the keys that it replaced. */
  async function find(request: FastifyRequest, artifactId: string): Promise<StoredArtifact> {
    const { projectId, permissions } = guard.callerOf(request);
    const artifact = await store.get(projectId, artifactId);
    if (permissions.tools !== null && !permissions.keyIds.has(artifact.keyId ?? ''))
      throw objectNotFound('artifact', artifactId);
    return artifact;
  }
  app.get('/v1/artifacts/:artifact_id', withScope(guard, artifactOperations.getArtifact), async (request) =>
    successEnvelope(store.toWire(await find(request, request.params.artifact_id))),
  );
  app.delete('/v1/artifacts/:artifact_id', withScope(guard, artifactOperations.deleteArtifact), async (request) => {
    const { id } = await find(request, request.params.artifact_id);
    await store.remove(guard.callerOf(request).projectId, id);
    await request.server.audit.record(request, { action: 'artifact.deleted', id });
    return acknowledgement;
  });
  contentRoute(app, deps);
}

/** Serves the bytes to anyone who has the signed URL. The signature is checked before the database is read. */
function contentRoute(app: App, { store, urls, clock, ...content }: ArtifactRoutesDeps): void {
  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    { artifactId, project, expires, signature }: Record<'artifactId' | 'project' | 'expires' | 'signature', string>,
  ): Promise<FastifyReply> {
    const projectId = readProject(project);
    const read = { artifactId, projectId, expiresAt: Number(expires) };
    if (!urls.isSigned(read, signature) || read.expiresAt <= clock.now()) throw objectNotFound('artifact', artifactId);
    identify(request, { project });
    const ifRange = request.headers['if-range'];
    const asked = {
      range: request.headers.range,
      ifRange: Array.isArray(ifRange) ? ifRange.join(', ') : ifRange,
      ifNoneMatch: request.headers['if-none-match'],
      headOnly: request.method === 'HEAD',
    };
    const find = async () => answerContent(content, await store.get(projectId, artifactId), asked);
    const answer = await find().catch((error: unknown) => {
      // The artifact was deleted, or its blob replaced, after its row was read.
      if (error instanceof BlobMissing) return find();
      throw error;
    });
    reply.code(answer.status).headers(answer.headers);
    return reply.send(answer.body ?? undefined);
  }
  const url = '/v1/artifacts/:artifact_id/content';
  const schema = artifactOperations.getArtifactContent;
  const { params, querystring } = schema;
  app.head(url, { schema: { params, querystring, hide: true } }, (request, reply) =>
    send(request, reply, { artifactId: request.params.artifact_id, ...request.query }),
  );
  app.get(url, { exposeHeadRoute: false, schema }, (request, reply) =>
    send(request, reply, { artifactId: request.params.artifact_id, ...request.query }),
  );
}
