import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../problem.ts';
import { checkParts } from './readiness.ts';

const works = () => Promise.resolve();
const fails = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:5432, password "hidden"'));
const hangs = () => new Promise<void>(() => {});

test('the readiness error names the parts that do not work, but not their location', async () => {
  await checkParts({ database: works, blobs: works });
  const problem = await checkParts({ process: works, database: fails, blobs: hangs }, 20).then(
    () => assert.fail('it is not ready'),
    (error: unknown) => error,
  );
  assert.ok(problem instanceof Problem);
  assert.equal(problem.status, 503);
  assert.equal(
    problem.message,
    'The service is not ready: database, blobs failed. Retry later; the log names the reason.',
  );
  assert.deepEqual(problem.details, [{ part: 'database' }, { part: 'blobs' }]);
  assert.equal(problem.headers['Retry-After'], '1');
  // The log contains the details.
  assert.ok(problem.cause instanceof AggregateError);
  assert.match(String(problem.cause.errors), /ECONNREFUSED.*no answer within 20 ms/);
});
