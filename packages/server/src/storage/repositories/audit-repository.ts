import type { AuditEvent } from '@quartermaster/contract';
import type { Selectable } from 'kysely';
import type { AuditRepository } from '../../platform/audit/audit-repository.ts';
import { lowestIdAt } from '../../platform/identifier.ts';
import type { Database } from '../database/database.ts';
import { isOwned, type KeysetWindow, readKeysetPage, rowsWithin } from '../database/keyset-page.ts';
import { countRows } from '../database/row-limit.ts';
import type { Tables } from '../database/tables.ts';

/** Stores the audit log in either database. */
export function createAuditRepository({ read, write, dialect }: Database): AuditRepository {
  return {
    add: async ({ object: _, audit_event_id: id, created_timestamp: at, details, ...event }) => {
      const row = { id, at, ...event, details: JSON.stringify(details) };
      await write.insertInto('audit_event').values(row).execute();
    },
    has: async ({ object_id: objectId, action, details }, since) => {
      const same = read.selectFrom('audit_event').select('id').where('object_id', '=', objectId);
      const later = same.where('id', '>=', lowestIdAt('auditEvent', since)).where('action', '=', action);
      const found = later.where('details', '=', JSON.stringify(details)).limit(1);
      return (await found.executeTakeFirst()) !== undefined;
    },
    list: async (projectId, { object, project_id, actor, action, from, to, ...query }) => {
      let rows = read.selectFrom('audit_event').selectAll();
      const isWhole = [object, actor, action, from, to].every((filter) => filter === undefined);
      const owned = projectId !== null && isWhole ? { dialect, by: { project_id: projectId } } : undefined;
      if (projectId !== null && owned === undefined) rows = rows.where('project_id', '=', projectId);
      if (project_id !== undefined) rows = rows.where('project_id', '=', project_id);
      if (object !== undefined) rows = rows.where('object_id', '=', object);
      if (actor !== undefined) rows = rows.where('actor_id', '=', actor);
      if (action !== undefined) rows = rows.where('action', '=', action);
      if (from !== undefined) rows = rows.where('id', '>=', lowestIdAt('auditEvent', from));
      if (to !== undefined) rows = rows.where('id', '<', lowestIdAt('auditEvent', to));
      const readPage = (window: KeysetWindow) => rowsWithin(rows, window, { owned }).execute();
      const page = await readKeysetPage(query, readPage, () =>
        countRows(read, owned === undefined ? rows : rows.where(isOwned(owned))),
      );
      return { ...page, items: page.items.map(toEvent) };
    },
    sweep: (before, limit) =>
      write.transaction().execute(async (transaction) => {
        const old = transaction
          .selectFrom('audit_event')
          .select('id')
          .where('id', '<', lowestIdAt('auditEvent', before))
          .orderBy('id');
        const deleted = transaction.deleteFrom('audit_event').where('id', 'in', old.limit(limit));
        return Number((await deleted.executeTakeFirst()).numDeletedRows);
      }),
  };
}

function toEvent({ id, at, details, ...row }: Selectable<Tables['audit_event']>): AuditEvent {
  const facts = JSON.parse(details) as AuditEvent['details']; // written by `add`
  return { object: 'AuditEvent', audit_event_id: id, created_timestamp: at, ...row, details: facts };
}
