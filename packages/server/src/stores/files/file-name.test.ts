import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../platform/problem.ts';
import { readFileName } from './upload/read-upload.ts';

function refusal(name: string): string | undefined {
  try {
    readFileName(name, 'record_file');
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'REQUEST_VALIDATION_ERROR', `${error}`);
    return error.message;
  }
}

test('a file name with a character that reverses the display order is refused, and the error names the character', () => {
  for (const control of ['202A', '202B', '202C', '202D', '202E', '2066', '2067', '2068', '2069']) {
    const name = `invoice${String.fromCharCode(Number.parseInt(control, 16))}fdp.txt`;
    assert.match(refusal(name) ?? '', new RegExp(`received a filename with U\\+${control}`));
  }
});

test('names in right-to-left scripts are accepted with the marks that they need', () => {
  for (const name of ['תפריט.txt', 'قائمة الأسعار.txt', 'רשימה\u200e 2.txt', 'سعر\u061c5.txt', 'a\u200fb.md']) {
    assert.equal(refusal(name), undefined, name);
  }
});
