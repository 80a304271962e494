import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AuditEvent } from '@quartermaster/contract';
import { sql } from 'kysely';
import { exportLines } from '../../access/audit/routes.ts';
import type { AuditRepository } from '../../platform/audit/audit-repository.ts';
import { sweepAudit } from '../../platform/audit/audit-repository.ts';
import { createNewId } from '../../platform/identifier.ts';
import type { Database } from '../database/database.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createAuditRepository } from './audit-repository.ts';

const day = 86_400_000;

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describe(`the audit log in ${name}`, () => {
    let database: Database;
    let repository: AuditRepository;
    let close: () => Promise<void>;
    let now: number;
    before(async () => {
      ({ database, close } = await open());
      repository = createAuditRepository(database);
      now = database.clock.now();
    });
    after(() => close());

    async function add(at: number, more: Partial<AuditEvent> = {}): Promise<AuditEvent> {
      const event: AuditEvent = {
        object: 'AuditEvent',
        audit_event_id: createNewId({ now: () => at })('auditEvent'),
        created_timestamp: at,
        project_id: 'p',
        actor_kind: 'key',
        actor_id: 'k',
        action: 'file.deleted',
        object_kind: 'file',
        object_id: 'f',
        outcome: 'done',
        details: { fields: ['name'] },
        client_address: null,
        request_id: 'r',
        ...more,
      };
      await repository.add(event);
      return event;
    }

    test('the database refuses to change an event, and to delete one that is not older than 400 days', async () => {
      const { audit_event_id: id } = await add(now - 399 * day);
      const old = await add(now - 402 * day);
      const refused = /append-only/;
      await assert.rejects(async () => sql`update audit_event set actor_id = 'x'`.execute(database.write), refused);
      await assert.rejects(async () => sql`delete from audit_event where id = ${id}`.execute(database.write), refused);
      await assert.rejects(async () => sql`delete from audit_event`.execute(database.write), refused);
      const again = sql`insert or replace into audit_event select * from audit_event where id = ${id}`;
      if (database.dialect === 'sqlite') await assert.rejects(async () => again.execute(database.write), refused);
      if (database.dialect === 'postgres')
        await assert.rejects(async () => sql`truncate audit_event`.execute(database.write), refused);
      assert.deepEqual((await repository.list(null, { order: 'asc' })).items[0], old);
      await sweepAudit(repository, now);
      assert.deepEqual(
        (await repository.list(null, {})).items.map((event) => event.audit_event_id),
        [id],
      );
    });

    test('a list has the events of its project and filters, in pages and with their number', async () => {
      const from = now - 1000;
      const all: AuditEvent[] = [];
      for (let i = 0; i < 20; i++) {
        const [project_id, actor_id] = [i % 2 === 0 ? 'even' : 'odd', `actor-${i % 3}`];
        const action = i % 4 === 0 ? 'key.revoked' : 'file.deleted';
        all.push(await add(from + i, { project_id, actor_id, action, object_id: `object-${i % 5}` }));
      }
      const numbers = async (projectId: string | null, query: Parameters<AuditRepository['list']>[1]) => {
        const found = [];
        for (let after: string | undefined, hasMore = true; hasMore; ) {
          const place = after === undefined ? {} : { after };
          const page = await repository.list(projectId, { order: 'asc', limit: 3, count: true, ...query, ...place });
          found.push(...page.items);
          assert.ok(page.total?.isExact);
          if (!page.hasMore) assert.equal(page.total.count, found.length);
          hasMore = page.hasMore;
          after = page.items.at(-1)?.audit_event_id;
        }
        return found.map((event) => event.created_timestamp - from);
      };
      const where = (condition: (i: number) => boolean) => all.map((_, i) => i).filter(condition);
      assert.deepEqual(
        await numbers('even', { from }),
        where((i) => i % 2 === 0),
      );
      assert.deepEqual(
        await numbers(null, { actor: 'actor-1' }),
        where((i) => i % 3 === 1),
      );
      assert.deepEqual(
        await numbers(null, { object: 'object-2' }),
        where((i) => i % 5 === 2),
      );
      assert.deepEqual(
        await numbers('even', { action: 'key.revoked' }),
        where((i) => i % 4 === 0),
      );
      assert.deepEqual(await numbers('odd', { action: 'key.revoked' }), []);
      assert.deepEqual(
        await numbers('even', { action: 'key.revoked', actor: 'actor-0', object: 'object-2' }),
        where((i) => i % 60 === 12),
      );
      assert.deepEqual(await numbers(null, { from: from + 5, to: from + 8 }), [5, 6, 7]);
      assert.equal(await repository.has(all[4] as AuditEvent, from), true);
      assert.equal(await repository.has(all[4] as AuditEvent, from + 10), false);
    });

    test('an export has every event once, the oldest first, and reads pages', async () => {
      const from = now + 1000;
      for (let i = 0; i < 501; i++) await add(from + i, { object_id: `${i}` });
      let pages = 0;
      const list: AuditRepository['list'] = (...query) => {
        pages += 1;
        return repository.list(...query);
      };
      let text = '';
      for await (const part of exportLines({ list }, 'p', { from })) text += part;
      const ids = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).object_id);
      assert.deepEqual(
        ids,
        Array.from({ length: 501 }, (_, i) => `${i}`),
      );
      assert.equal(pages, 2);
    });
  });
}
