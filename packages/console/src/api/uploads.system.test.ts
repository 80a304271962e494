import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resumeSession } from './session-gate.ts';
import { addUploads } from './uploads.ts';

/** Answers like the service after the end of the session, or stores the file. */
class FakeRequest {
  static answer = { status: 401, text: '{"error":{"code":"SESSION_VALIDATION_FAILED","message":"ended"}}' };
  static sent = 0;
  readonly upload = {};
  status = 0;
  responseText = '';
  onload: () => void = () => undefined;
  open(): void {}
  setRequestHeader(): void {}
  send(): void {
    FakeRequest.sent += 1;
    setImmediate(() => {
      [this.status, this.responseText] = [FakeRequest.answer.status, FakeRequest.answer.text];
      this.onload();
    });
  }
}

test('uploads that wait are not sent after the session has ended, and all are sent after the next sign-in', async () => {
  Object.assign(globalThis, { XMLHttpRequest: FakeRequest });
  // Node.js has a `localStorage` only with a file for it.
  Object.defineProperty(globalThis, 'localStorage', { value: { getItem: () => 'a token' }, configurable: true });
  const files = Array.from({ length: 8 }, (_, index) => ({
    file: new File(['tea'], `tea-${index}.txt`),
    purpose: 'record_file' as const,
  }));
  addUploads(files);
  for (let turn = 0; turn < 30; turn += 1) await new Promise(setImmediate);
  assert.equal(FakeRequest.sent, 3, 'those that were sent at once');
  FakeRequest.answer = { status: 200, text: '{"data":{"file_id":"file1"}}' };
  resumeSession();
  for (let turn = 0; turn < 30; turn += 1) await new Promise(setImmediate);
  assert.equal(FakeRequest.sent, 3 + 8);
});
