import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  claimAt,
  keyOf,
  newChunk,
  newCollection,
  newRecord,
  start,
} from '../../../stores/collections/testing/fixtures.suite.ts';
import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { createRecordTextRepository } from './collection-repositories.ts';
import { createCollectionRepository } from './collection-repository.ts';
import { createRecordJobRepository } from './record-job-repository.ts';
import { createRecordRepository } from './record-repository.ts';
import { observeStatements } from './testing/query-plans.fixture.ts';

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`the text of a record is read by offsets, and no whole locator leaves the database: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const collection = newCollection();
    await createCollectionRepository(database).add(collection, 10);
    const record = newRecord(collection);
    await createRecordRepository(database).add(record);
    const jobs = createRecordJobRepository(database);
    const job = await jobs.claim(claimAt(start));
    assert.ok(job);
    const chunks = Array.from({ length: 4 }, (_, ordinal) =>
      newChunk('12345', {
        ordinal,
        locator: { heading_path: ['h'.repeat(500)], char_start: 5 * ordinal, char_end: 5 * ordinal + 5 },
      }),
    );
    await jobs.addChunks(job, chunks);
    await jobs.publish(job, { status: 'ready', numChunks: 4, report: {}, now: start });
    const observed = observeStatements(database);
    const key = keyOf(record);
    const { parts, numCharacters } = await createRecordTextRepository(observed.database).read(key, {
      ...{ start: 5, end: 15, maxParts: 10 },
    });
    assert.equal(numCharacters, 20);
    assert.deepEqual(
      parts.map(({ charStart, charEnd, content }) => [charStart, charEnd, content]),
      [5, 10].map((from) => [from, from + 5, '12345']),
    );
    const statements = observed.executed().join('\n');
    assert.match(statements, /locator/);
    assert.doesNotMatch(statements.replaceAll(/json_extract\(locator, |\(locator::json ->> /g, ''), /locator/);
  });
}
