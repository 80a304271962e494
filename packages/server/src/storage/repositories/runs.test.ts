import { describeRunRepository } from '../../tools/runs/testing/run-repository.suite.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { observeStatements } from './records/testing/query-plans.fixture.ts';
import { createRunRepository } from './run-repository.ts';

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describeRunRepository(name, async () => {
    const opened = await open();
    const { database, executed } = observeStatements(opened.database);
    return { repository: createRunRepository(database), executed, release: opened.close };
  });
}
