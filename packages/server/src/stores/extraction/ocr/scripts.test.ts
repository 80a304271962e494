import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languagesFor, readLayout, usualLanguage } from './scripts.ts';

/** As tesseract 5.3 prints it. */
const printed = (script: string, confidence: string, rotate = 0) =>
  [
    ...['Page number: 0', `Orientation in degrees: ${rotate}`, `Rotate: ${rotate}`, 'Orientation confidence: 18.31'],
    ...[`Script: ${script}`, `Script confidence: ${confidence}`, ''],
  ].join('\n');

test('the layout of a page is read from what osd prints, and a page without one is upright', () => {
  assert.deepEqual(readLayout(printed('Cyrillic', '3.63')), { isTurned: false, script: 'Cyrillic', isCertain: true });
  assert.deepEqual(readLayout(printed('Katakana', '0.93', 180)), {
    isTurned: true,
    script: 'Japanese',
    isCertain: false,
  });
  assert.deepEqual(readLayout(''), { isTurned: false, script: '', isCertain: false });
});

test('languages of a script are added if none of the configured ones is written in it, and two at most', () => {
  const installed = ['eng', 'osd', 'rus', 'ukr', 'bul', 'jpn', 'script/Greek'];
  const choose = (script: string, configured: readonly string[]) => languagesFor(script, { configured, installed });
  assert.deepEqual(choose('Cyrillic', ['eng']), ['rus', 'ukr', 'eng']);
  assert.deepEqual(choose('Cyrillic', ['deu', 'bul']), ['deu', 'bul']);
  assert.deepEqual(choose('Greek', ['eng']), ['script/Greek', 'eng']);
  assert.deepEqual(choose('Han', ['jpn_vert']), ['jpn_vert']);
  assert.deepEqual(choose('Latin', ['deu']), ['deu']);
  assert.deepEqual(choose('Latin', ['rus']), ['eng', 'rus']);
  assert.deepEqual(choose('', ['eng']), ['eng']);
  assert.equal(choose('Arabic', ['eng']), undefined);
  assert.equal(usualLanguage('Arabic'), 'ara');
});
