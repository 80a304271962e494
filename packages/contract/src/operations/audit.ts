import { Type } from 'typebox';
import { AuditEvent, AuditEventFilter, AuditEventListQuery } from '../audit/audit.ts';
import { CountedList } from '../envelope.ts';
import { describeOperations } from './operation.ts';
import { keyOrSession } from './request-parts.ts';

const readers =
  'A session of an administrator reads the events of every project and those without a project. A key reads the events of its own project; a key that is limited to collections or tools reads none.';

export const auditOperations = describeOperations('audit', {
  listAuditEvents: {
    summary: 'List the events of the audit log',
    description: `Events are in the order of their time. Filters can be combined. ${readers}`,
    scope: 'admin',
    security: keyOrSession,
    querystring: AuditEventListQuery,
    response: { 200: CountedList(AuditEvent) },
    examples: { events: {} },
  },
  exportAuditEvents: {
    summary: 'Export the audit log',
    description: `Sends one event per line as JSON, the oldest first, up to the time of the request. The filters are those of the list. The export is itself an event. ${readers}`,
    scope: 'admin',
    security: keyOrSession,
    querystring: AuditEventFilter,
    response: { 200: { content: { 'application/jsonl': { schema: Type.String() } } } },
    examples: { revocations: { query: { action: 'key.revoked' } } },
  },
});
