import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Adds whether the identity provider made an account an administrator of the service. In existing stores it did so unless the audit log
 * names a person.
 */
export const addAdministratorSource: Migration = {
  async up(db) {
    await sql`alter table account add column administrator_source text`.execute(db);
    await sql`update account set administrator_source = 'claim' where is_administrator = 1 and issuer is not null
      and not exists (select 1 from audit_event where object_id = account.id and action = 'account.changed'
        and details like '%"is_administrator":true%')`.execute(db);
  },
};
