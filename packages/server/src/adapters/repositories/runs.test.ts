import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '../../../../../test/support/postgres.ts';
import { createLogger } from '../../kernel/log/logger.ts';
import { describeRunRepository } from '../../runs/testing/run-repository.suite.ts';
import { openDatabase } from '../database/open-database.ts';
import { observeStatements } from './records/testing/query-plans.fixture.ts';
import { createRunRepository } from './run-repository.ts';

const logger = createLogger('silent');

describeRunRepository('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-runs-'));
  const { database, executed } = observeStatements(await openDatabase({ url: null, dataFolder: folder, logger }));
  const release = async () => {
    await database.close();
    await rm(folder, { recursive: true });
  };
  return { repository: createRunRepository(database), executed, release };
});

describeRunRepository('PostgreSQL', async () => {
  const testing = await createTestDatabase();
  const { database, executed } = observeStatements(
    await openDatabase({ url: testing.url, dataFolder: '/unused', logger }),
  );
  const release = async () => {
    await database.close();
    await testing.drop();
  };
  return { repository: createRunRepository(database), executed, release };
});
