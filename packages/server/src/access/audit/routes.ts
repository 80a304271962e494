import { Readable } from 'node:stream';
import type { AuditEventFilter } from '@quartermaster/contract';
import { auditOperations } from '@quartermaster/contract/operations';
import type { FastifyRequest } from 'fastify';
import type { AuditRepository } from '../../platform/audit/audit-repository.ts';
import type { Clock } from '../../platform/clock.ts';
import { listEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import { checkCursor } from '../../platform/list-cursors.ts';
import { Problem } from '../../platform/problem.ts';

export interface AuditRoutesDeps {
  readonly events: Pick<AuditRepository, 'list'>;
  readonly guard: ManagerGuard;
  readonly clock: Clock;
}

/** Lists and exports the audit log. */
export function auditRoutes(app: App, { events, guard, clock }: AuditRoutesDeps): void {
  const onRequest = guard.manages;
  app.get('/v1/audit_events', { onRequest, schema: auditOperations.listAuditEvents }, async (request) => {
    const query = checkCursor(request.query, 'auditEvent');
    return listEnvelope(await events.list(readProject(guard, request), query));
  });
  app.get(
    '/v1/audit_events/export',
    { onRequest, exposeHeadRoute: false, schema: auditOperations.exportAuditEvents },
    async (request, reply) => {
      const projectId = readProject(guard, request);
      const filter = { ...request.query, to: Math.min(request.query.to ?? clock.now(), clock.now()) };
      await request.server.audit.record(request, { action: 'audit.exported', id: null, projectId, details: filter });
      reply.type('application/jsonl').header('Content-Disposition', 'attachment; filename="audit-log.jsonl"');
      // The schema describes the body as text; the body is sent as a stream.
      return reply.send(Readable.from(exportLines(events, projectId, filter)) as unknown as string);
    },
  );
}

/** @throws Problem PERMISSION_DENIED for a limited key, because events name objects that it does not see */
function readProject(guard: ManagerGuard, request: FastifyRequest): string | null {
  const { projectId, permissions } = guard.managerOf(request);
  if (permissions.collections === null && permissions.tools === null) return projectId;
  throw new Problem(
    'PERMISSION_DENIED',
    'The API key is limited to some collections or tools. The audit log needs a key of scope "admin" without such limits.',
  );
}

const linesAtOnce = 500;

/** Returns the events as lines of JSON, the oldest first. It reads one page at a time, when the client has taken the one before. */
export async function* exportLines(
  events: Pick<AuditRepository, 'list'>,
  projectId: string | null,
  filter: AuditEventFilter,
): AsyncGenerator<string> {
  for (let after: string | undefined, hasMore = true; hasMore; ) {
    const query = { ...filter, order: 'asc', limit: linesAtOnce, ...(after === undefined ? {} : { after }) } as const;
    const page = await events.list(projectId, query);
    yield page.items.map((event) => `${JSON.stringify(event)}\n`).join('');
    after = page.items.at(-1)?.audit_event_id;
    hasMore = page.hasMore;
  }
}
