import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../../../../test/support/postgres.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { openDatabase } from '../open-database.ts';
import { createAccountRepository } from '../repositories/account-repository.ts';

test('the service runs with a role that owns nothing and may only create tables in one schema', async (t) => {
  const server = await createTestDatabase();
  const role = `least_${randomBytes(6).toString('hex')}`;
  const administrator = new pg.Client({ connectionString: server.url });
  await administrator.connect();
  const url = new URL(server.url);
  await administrator.query(
    `create role ${role} login nosuperuser nocreatedb nocreaterole noreplication password '${role}'`,
  );
  await administrator.query(`grant connect on database ${url.pathname.slice(1)} to ${role}`);
  await administrator.query(`grant usage, create on schema public to ${role}`);
  url.username = role;
  url.password = role;

  const database = await openDatabase({
    admission: createAdmission(),
    url: url.href,
    dataFolder: '/nonexistent',
    logger: createLogger('silent'),
  });
  t.after(async () => {
    await database.close();
    await administrator.query(`drop owned by ${role}`);
    await administrator.query(`drop role ${role}`);
    await administrator.end();
    await server.drop();
  });
  const repository = createAccountRepository(database);
  await repository.keepSetUpToken({ hash: 'a', expiresAt: 1 });
  assert.deepEqual(await repository.findSetUpToken(), { hash: 'a', expiresAt: 1 });
  const rights = await administrator.query(
    'select rolsuper, rolcreatedb, rolcreaterole from pg_roles where rolname = $1',
    [role],
  );
  assert.deepEqual(rights.rows, [{ rolsuper: false, rolcreatedb: false, rolcreaterole: false }]);
});
