import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageOfWords } from '@quartermaster/contract';
import { changesOf, placeText, reachOf, readHost, readPlace } from './places.ts';

test('a place is written as commands write it, and other texts are no place', () => {
  for (const text of ['header:x-api-key', 'query:api_key', 'form:Token', 'path:/bot']) {
    const place = readPlace(text);
    assert.ok(place !== undefined);
    assert.equal(placeText(place), text);
  }
  assert.deepEqual(readPlace(' Header: X-Key '), { in: 'header', name: 'x-key' });
  for (const text of ['', 'header', 'header:', 'cookie:a', 'path:bot']) assert.equal(readPlace(text), undefined);
});

test('a host is a name with an optional port, and a URL is no host', () => {
  assert.equal(readHost(' API.example.com '), 'api.example.com');
  for (const host of ['localhost:8443', '{region}.example.com']) assert.equal(readHost(host), host);
  const others = ['', 'https://api.example.com', 'api.example.com/v1', 'me@api.example.com', 'a b', 'a?b', 'a#b'];
  for (const text of others) assert.equal(readHost(text), undefined, text);
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
  assert.equal(packageOfWords(' Google Sheets '), '@activepieces/piece-google-sheets');
  assert.equal(packageOfWords('@activepieces/piece-slack'), '@activepieces/piece-slack');
  assert.equal(packageOfWords(' '), '');
});
