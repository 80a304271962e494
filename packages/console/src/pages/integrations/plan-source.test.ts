import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingWanted, requestOf } from './plan-source.ts';

const api = { ...nothingWanted, kind: 'openapi', tags: ' Big orders, Customers,', paths: '/orders' } as const;

test('the plan of a document names its server, operations, tags and paths', async () => {
  const url = 'https://api.example.com/openapi.json';
  const wanted = { ...api, url, server: ' https://eu.example.com ', operations: 'listOrders  getOrder' };
  assert.deepEqual((await requestOf(wanted)).source, {
    ...{ kind: 'openapi', url, server: 'https://eu.example.com' },
    ...{ operations: ['listOrders', 'getOrder'], tags: ['Big orders', 'Customers'], paths: ['/orders'] },
  });
});

test('the plan of a recipe needs no document, and has no fields that the form does not show', async () => {
  const wanted = { ...api, recipe: 'zendesk', server: 'https://acme.zendesk.com' };
  const source = { kind: 'openapi', recipe: 'zendesk', server: 'https://acme.zendesk.com' };
  assert.deepEqual((await requestOf(wanted)).source, source);
});
