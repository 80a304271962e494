import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

test('the commands of the Python guide leave no file that git would add', async () => {
  const written = [
    'clients/python/build/lib/quartermaster/client.py',
    'clients/python/src/quartermaster.egg-info/PKG-INFO',
    'clients/python/src/quartermaster/_sync/client.py',
    'clients/python/src/quartermaster/types.py',
    'clients/python/src/quartermaster/_operations.py',
    'wheels/quartermaster-0.1.0-py3-none-any.whl',
  ];
  const { stdout } = await promisify(execFile)('git', ['check-ignore', '--no-index', ...written]);
  assert.deepEqual(stdout.trim().split('\n'), written);
});
