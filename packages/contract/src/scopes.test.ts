import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePermissions } from './scopes.ts';

test('the sentences about a key name its widest scope of each kind, and its limits', () => {
  const all = { collections: null, tools: null };
  assert.deepEqual(describePermissions({ scopes: ['collections:read'], ...all }), [
    'Reads and searches every collection.',
  ]);
  assert.deepEqual(
    describePermissions({
      scopes: ['files', 'files:read', 'collections:read', 'plugins:read'],
      collections: ['handbook', 'a $& b'],
      tools: ['time'],
    }),
    [
      'Reads and searches only these collections: handbook, a $& b.',
      'Uploads files, and reads only its own uploads and the files of these collections: handbook, a $& b.',
      'Runs only these plugins, if they only read: time.',
    ],
  );
  assert.deepEqual(describePermissions({ scopes: ['metrics'], ...all }), ['Reads the metrics of the whole service.']);
  assert.equal(describePermissions({ scopes: ['files', 'collections', 'plugins', 'admin'], ...all }).length, 5);
});
