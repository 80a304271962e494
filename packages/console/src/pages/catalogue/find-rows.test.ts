import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bundle } from '@quartermaster/contract';
import { findRows, indexOf } from './find-rows.ts';

function bundleOf(id: string, facts: Partial<Bundle>): Bundle {
  const texts = {
    name: id,
    description: '',
    provider: '',
    developer: '',
    categories: [],
    version: '1.0.0',
    icon_url: null,
  };
  const none = { credentials_schema: { type: 'object' }, hosts: [], hosts_by: 'bundle' as const, num_plugins: 0 };
  return {
    object: 'Bundle',
    bundle_id: id,
    ...texts,
    ...none,
    isolation: 'none',
    unavailable: null,
    verified: null,
    retired: null,
    ...facts,
  };
}

test('a category leaves the bundles that have it', () => {
  const bundles = [bundleOf('a_mail', { categories: ['communication', 'marketing'] }), bundleOf('b_none', {})];
  const index = indexOf(bundles, [], new Set());
  const ids = (...args: [string, 'communication' | 'commerce' | null]) => findRows(index, ...args).map(({ id }) => id);
  assert.deepEqual(ids('', 'communication'), ['a_mail']);
  assert.deepEqual(ids('none', 'communication'), []);
  assert.deepEqual(ids('', 'commerce'), []);
  assert.deepEqual(ids('', null), ['a_mail', 'b_none']);
});

test('bundles that are ready to use stand before those that need credentials, and these before unavailable ones', () => {
  const needs = { credentials_schema: { type: 'object', required: ['KEY'], properties: { KEY: { type: 'string' } } } };
  const optional = { credentials_schema: { type: 'object', properties: { KEY: { type: 'string' } } } };
  const bundles = [
    bundleOf('a_ended', { retired: { date: '2026-08-31', reason: 'It ended.', successor: 'Use e_free.' } }),
    bundleOf('a_closed', { unavailable: 'It has no hosts.' }),
    bundleOf('b_needs', needs),
    bundleOf('b_one_of', { credentials_schema: { type: 'object', anyOf: [{ required: ['A'] }, { required: ['B'] }] } }),
    bundleOf('c_stored', needs),
    bundleOf('d_optional', optional),
    bundleOf('e_free', {}),
  ];
  const rows = findRows(indexOf(bundles, [], new Set(['c_stored', 'a_closed'])), '');
  assert.deepEqual(
    rows.map(({ id, readiness }) => [id, readiness]),
    [
      ['c_stored', 'ready'],
      ['d_optional', 'ready'],
      ['e_free', 'ready'],
      ['b_needs', 'needsCredentials'],
      ['b_one_of', 'needsCredentials'],
      ['a_closed', 'unavailable'],
      ['a_ended', 'retired'],
    ],
  );
});
