import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PieceProperty } from '../execution/pieces/child/piece-task.ts';
import { sampleInputs } from './sample-inputs.ts';

const property = (name: string, more: Partial<PieceProperty> = {}): PieceProperty => ({
  ...{ name, type: 'SHORT_TEXT', displayName: name, description: '', required: true },
  ...more,
});

test('a sample is a choice that is no empty text, and a time of a message where a name asks for one', () => {
  const options = ['', null, 'primary'].map((value) => ({ label: String(value), value }));
  const found = sampleInputs([
    property('style', { type: 'STATIC_DROPDOWN', options }),
    ...['ts', 'messageTs', 'thread_ts', 'parts', 'sendUpdates'].map((one) => property(one)),
  ]);
  const time = '1767225600.000100';
  assert.deepEqual(found, [
    { style: 'primary', ts: time, messageTs: time, thread_ts: time, parts: 'text', sendUpdates: 'text' },
  ]);
});

test('samples hold all inputs, the required ones, or one more; an empty default is no value, and confirmations are given', () => {
  const properties = [
    property('people', { type: 'ARRAY', defaultValue: [] }),
    property('postAt', { type: 'NUMBER' }),
    property('confirm', { type: 'CHECKBOX', defaultValue: false }),
    property('domain', { required: false }),
    property('page_url', { required: false }),
  ];
  const required = { people: ['1'], postAt: 4_102_444_800, confirm: false };
  const all = { ...required, confirm: true, domain: 'text', page_url: 'https://example.com/page' };
  assert.deepEqual(sampleInputs(properties), [all, required, { ...required, domain: 'text' }]);
});
