import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BundlePlan } from '@quartermaster/contract';
import { readPackage } from './bundle-source.ts';
import { editReach, readPlace } from './edit-reach.ts';

const header = { in: 'header' as const, name: 'authorization' };
const credential_places = { hosts: ['a.example', 'b.example'], places: [header] };
const plan = { hosts: ['a.example', 'b.example'], credential_places } as unknown as BundlePlan;

test('options change the hosts and places of a plan, and a host that is removed gets no credential', () => {
  assert.deepEqual(editReach(plan, {}), {});
  const options = { addHosts: ['c.example'], removeHosts: ['b.example'], addCredentialHosts: ['d.example'] };
  assert.deepEqual(editReach(plan, { ...options, addPlaces: [readPlace('path:/bot'), header] }), {
    hosts: ['a.example', 'c.example', 'd.example'],
    credential_places: { hosts: ['a.example', 'd.example'], places: [header, { in: 'path', prefix: '/bot' }] },
  });
  const fewer = editReach(plan, {
    removeCredentialHosts: ['a.example'],
    removePlaces: [readPlace('header:Authorization')],
  });
  assert.deepEqual(fewer, { hosts: plan.hosts, credential_places: { hosts: ['b.example'], places: [] } });
  const without = { ...plan, credential_places: null };
  assert.deepEqual(editReach(without, { addHosts: ['c.example'] }), { hosts: [...plan.hosts, 'c.example'] });
});

test('a place and a package are read from their short forms', () => {
  assert.deepEqual(readPlace('query:api_key'), { in: 'query', name: 'api_key' });
  assert.throws(() => readPlace('body:key'), /header:NAME/);
  assert.deepEqual(readPackage('@a/piece-b@1.0.0'), { package: '@a/piece-b', version: '1.0.0' });
  assert.deepEqual(readPackage('@a/piece-b'), { package: '@a/piece-b' });
});
