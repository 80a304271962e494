import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { startPostgres, type TestServer } from '../../../../../test/support/postgres.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { openPostgresDatabase } from './postgres-database.ts';
import { connect } from './postgres-programs.ts';

const password = 'cobalt-heron-42';

describe('a PostgreSQL server that refuses the login', () => {
  let server: TestServer;
  before(async () => {
    server = await startPostgres();
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query("set password_encryption = 'scram-sha-256'");
    await admin.query("create role guarded login password 'another password'");
    await admin.query(`
      copy (values ('host all guarded 127.0.0.1/32 scram-sha-256'), ('host all all 127.0.0.1/32 trust'))
      to '${(await admin.query('show hba_file')).rows[0].hba_file}'`);
    await admin.query('select pg_reload_conf()');
    await admin.end();
  });
  after(() => server.stop());

  const refusals = {
    user: { change: { username: 'nobody_here' }, reason: 'role "nobody_here" does not exist' },
    password: {
      change: { username: 'guarded', password },
      reason: 'password authentication failed for user "guarded"',
    },
    database: { change: { pathname: '/nowhere' }, reason: 'database "nowhere" does not exist' },
  };
  for (const [part, { change, reason }] of Object.entries(refusals)) {
    it(`the start and the commands name the refused ${part}, the setting and the remedy`, async () => {
      const { href: url } = Object.assign(new URL(server.url), change);
      const logger = createLogger('silent');
      const message = `PostgreSQL refuses the connection (${reason}). Correct the user, the password or the database in QUARTERMASTER_DATABASE_URL.`;
      const expected = { name: 'OperatorError', message };
      await assert.rejects(
        openPostgresDatabase(url, { admission: createAdmission(), url, dataFolder: '', logger }),
        expected,
      );
      await assert.rejects(connect(url), expected);
    });
  }
});
