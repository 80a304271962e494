import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createKeptAnswerBytesMigration } from '../database/migrations/0036-kept-answer-bytes.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createIdempotencyRepository } from './idempotency-repository.ts';

const claimOf = (projectId: string, operation: 'execute' | 'upload') =>
  ({ projectId, operation, key: 'k', callerId: '', heldUntil: 1000 }) as const;

for (const [name, open] of Object.entries(temporaryDatabases))
  test(`the migration counts the bytes of stored answers once: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const repository = createIdempotencyRepository(database);
    for (const claim of [claimOf('a', 'execute'), claimOf('b', 'execute'), claimOf('a', 'upload')]) {
      await repository.claim(claim, 1);
      if (claim.projectId === 'a')
        await repository.complete({ ...claim, fingerprint: 'print', answer: '"äöü"', expiresAt: 9000 });
    }
    // Restores the schema from before the migration.
    await sql`drop table kept_answer_usage`.execute(database.write);
    await sql`alter table idempotency drop column answer_bytes`.execute(database.write);
    await createKeptAnswerBytesMigration(database.dialect).up(database.write);
    const sums = () => database.read.selectFrom('kept_answer_usage').selectAll().execute();
    const found = (await sums()).map(({ project_id, bytes }) => [project_id, Number(bytes)]);
    assert.deepEqual(found, [['a', 8]]);
    assert.equal(await repository.sweep(9000), 3);
    assert.equal(Number((await sums())[0]?.bytes), 0);
  });
