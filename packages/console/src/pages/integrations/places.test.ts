import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, packageOf, placeText, reachOf, readPlace } from './places.ts';

test('a place is written as commands write it, and other texts are no place', () => {
  for (const text of ['header:x-api-key', 'query:api_key', 'form:Token', 'path:/bot']) {
    const place = readPlace(text);
    assert.ok(place !== undefined);
    assert.equal(placeText(place), text);
  }
  assert.deepEqual(readPlace(' Header: X-Key '), { in: 'header', name: 'x-key' });
  for (const text of ['', 'header', 'header:', 'cookie:a', 'path:bot']) assert.equal(readPlace(text), undefined);
});

test('an installation sends only the lists that the administrator has changed', () => {
  const credential_places = { hosts: ['a.example'], places: [{ in: 'header', name: 'authorization' } as const] };
  const plan = { hosts: ['a.example', 'b.example'], credential_places };
  const reach = reachOf(plan);
  assert.deepEqual(changesOf(plan, reach), {});
  assert.deepEqual(changesOf(plan, { ...reach, hosts: ['a.example'] }), { hosts: ['a.example'] });
  const narrow = { ...credential_places, hosts: [] };
  assert.deepEqual(changesOf(plan, { ...reach, credentialHosts: [] }), { credential_places: narrow });
  assert.deepEqual(
    changesOf({ hosts: [], credential_places: null }, { hosts: [], credentialHosts: [], places: [] }),
    {},
  );
});

test('a short name is that of a piece', () => {
  assert.equal(packageOf(' Google Sheets '), '@activepieces/piece-google-sheets');
  assert.equal(packageOf('@activepieces/piece-slack'), '@activepieces/piece-slack');
  assert.equal(packageOf(' '), '');
});
