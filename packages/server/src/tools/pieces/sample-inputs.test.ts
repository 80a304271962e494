import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PieceProperty } from '../execution/pieces/child/piece-task.ts';
import { sampleProps } from './sample-inputs.ts';

test('a sample is a choice that is no empty text, and a time of a message where a name asks for one', () => {
  const property = (name: string, more: Partial<PieceProperty> = {}): PieceProperty => ({
    ...{ name, type: 'SHORT_TEXT', displayName: name, description: '', required: true },
    ...more,
  });
  const options = ['', null, 'primary'].map((value) => ({ label: String(value), value }));
  const found = sampleProps(
    [
      property('style', { type: 'STATIC_DROPDOWN', options }),
      ...['ts', 'messageTs', 'thread_ts', 'parts'].map((one) => property(one)),
    ],
    'required',
  );
  const time = '1767225600.000100';
  assert.deepEqual(found, { style: 'primary', ts: time, messageTs: time, thread_ts: time, parts: 'text' });
});
