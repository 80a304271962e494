import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statements: readonly string[] = [
  `create table audit_event (
    id $id primary key not null,
    at $whole not null,
    project_id $id,
    actor_kind $id not null,
    actor_id $id,
    action $id not null,
    object_kind $id not null,
    object_id $id,
    outcome $id not null,
    details text not null,
    client_address text,
    request_id text
  $end`,
  'create index audit_event_of_project on audit_event (project_id, id)',
  'create index audit_event_of_project_action on audit_event (project_id, action, id)',
  'create index audit_event_of_actor on audit_event (actor_id, id)',
  'create index audit_event_of_action on audit_event (action, id)',
  'create index audit_event_of_object on audit_event (object_id, id)',
];

/**
 * The retention is part of the triggers, so that a defect of the service cannot delete newer events. A store that needs them for longer
 * exports them.
 */
const retentionSeconds = 400 * 86_400;

const ofSqlite: readonly string[] = [
  `create trigger audit_event_unchanged before update on audit_event
    begin select raise(abort, 'audit_event is append-only'); end`,
  // A row that INSERT OR REPLACE replaces is deleted without the other triggers.
  `create trigger audit_event_new before insert on audit_event when exists (select 1 from audit_event where id = new.id)
    begin select raise(abort, 'audit_event is append-only'); end`,
  `create trigger audit_event_kept before delete on audit_event
    when old.at >= (unixepoch() - ${retentionSeconds}) * 1000
    begin select raise(abort, 'audit_event is append-only'); end`,
];

/** A dump of the tables has the triggers without their function, so a restore creates the function first. */
export const auditFunction = `create or replace function audit_event_kept() returns trigger language plpgsql as '
  begin
    if tg_op = ''DELETE'' then
      if old.at < (extract(epoch from now()) - ${retentionSeconds}) * 1000 then return old; end if;
    end if;
    raise exception ''audit_event is append-only'';
  end'`;

const ofPostgres: readonly string[] = [
  auditFunction,
  `create trigger audit_event_kept before update or delete on audit_event
    for each row execute function audit_event_kept()`,
  `create trigger audit_event_not_truncated before truncate on audit_event
    for each statement execute function audit_event_kept()`,
];

/** Creates the audit log: rows are added, and deleted after the retention. */
export function createAuditTable(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      const ofDialect = dialect === 'sqlite' ? ofSqlite : ofPostgres;
      for (const statement of [...inDialect(statements, dialect), ...ofDialect]) await sql.raw(statement).execute(db);
    },
  };
}
