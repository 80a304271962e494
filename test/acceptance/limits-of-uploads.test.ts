import assert from 'node:assert/strict';
import { request as sendRequest } from 'node:http';
import { test } from 'node:test';
import { readAnswer } from '../support/http.ts';
import { assertAccepted, assertRefused, limitedService } from '../support/limits.ts';

const settings = { MAX_FILE_BYTES: '5000', MAX_UPLOADS_IN_FLIGHT: '2', MAX_PROJECT_BYTES: '20000' };
const limited = limitedService({ settings });

const disposition = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const part = (headers: string, content: string) => `--b\r\n${headers}\r\n\r\n${content}\r\n`;
const file = (content: string) => part(`${disposition('file')}; filename="a.txt"`, content);
const purpose = part(disposition('purpose'), 'record_file');

/** Uploads a small file with additional parts. */
async function upload(others: string, content = 'a') {
  const body = `${file(content)}${purpose}${others}--b--\r\n`;
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
  return await limited.send(`${limited.service.filesUrl}/v1/files`, { method: 'POST', headers, body });
}

test('the limit file_bytes accepts a file of exactly its size and refuses one byte more', async () => {
  const row = limited.limit('file_bytes');
  assertAccepted(await upload('', 'a'.repeat(row.value)));
  assertRefused(row, await upload('', 'a'.repeat(row.value + 1)));
});

test('the limit upload_parts accepts exactly as many parts and refuses one more', async () => {
  const row = { value: 8, status: 400, code: 'INVALID_REQUEST' };
  const others = (count: number) => part(disposition('other'), 'x').repeat(count - 2);
  assertAccepted(await upload(others(row.value)));
  assertRefused(row, await upload(others(row.value + 1)));
});

test('the limit upload_part_headers accepts exactly as many headers of a part and refuses one more', async () => {
  const row = { value: 16, status: 400, code: 'INVALID_REQUEST' };
  const other = (count: number) => part(disposition('other') + '\r\nX-A: 1'.repeat(count - 1), 'x');
  assertAccepted(await upload(other(row.value)));
  assertRefused(row, await upload(other(row.value + 1)));
});

test('the limit upload_part_header_bytes accepts headers of exactly its size and refuses one byte more', async () => {
  const row = { value: 8192, status: 400, code: 'INVALID_REQUEST' };
  const other = (bytes: number) => part(`${disposition('other')}\r\nX-A: `.padEnd(bytes, 'x'), 'x');
  assertAccepted(await upload(other(row.value)));
  assertRefused(row, await upload(other(row.value + 1)));
});

test('the limit upload_field_bytes accepts a field of exactly its size and refuses one byte more', async () => {
  const row = { value: 65_536, status: 422, code: 'REQUEST_VALIDATION_ERROR' };
  const other = (bytes: number) => part(disposition('other'), 'x'.repeat(bytes));
  assertAccepted(await upload(other(row.value)));
  assertRefused(row, await upload(other(row.value + 1)));
});

/** Starts an upload, and sends the rest of it when the test ends it. */
function startUpload() {
  const rest = `${file('b')}${purpose}--b--\r\n`;
  const headers = {
    Authorization: `Bearer ${limited.service.key}`,
    'Content-Type': 'multipart/form-data; boundary=b',
    'Content-Length': rest.length,
    Expect: '100-continue',
  };
  const request = sendRequest(`${limited.service.filesUrl}/v1/files`, { method: 'POST', headers });
  const isAccepted = new Promise<boolean>((resolve) => {
    request.on('continue', () => resolve(true));
    request.on('response', () => resolve(false));
  });
  const answered = new Promise<ReturnType<typeof readAnswer>>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', async (response) => {
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += piece;
      resolve(readAnswer(response.statusCode ?? 0, text));
    });
  });
  request.flushHeaders();
  return { isAccepted: isAccepted, answered, end: () => request.end(rest) };
}

test('the limit uploads_in_flight accepts exactly as many uploads at once and refuses one more', async () => {
  const row = limited.limit('uploads_in_flight');
  const uploads = Array.from({ length: row.value }, startUpload);
  assert.deepEqual(await Promise.all(uploads.map(({ isAccepted }) => isAccepted)), Array(row.value).fill(true));
  const further = startUpload();
  assertRefused(row, await further.answered);
  for (const { end } of uploads) end();
  for (const { answered } of uploads) assertAccepted(await answered);
});

test('the limit project_bytes accepts files of exactly its size together and refuses one byte more', async () => {
  const row = limited.limit('project_bytes');
  const { body } = await limited.send(`${limited.service.filesUrl}/v1/limits`);
  const name = 'a.txt';
  let remaining: number = row.value - body.data.quota.bytes_used;
  for (let index = 0; remaining > 0; index += 1) {
    const bytes = Math.min(remaining - name.length, 5000);
    assertAccepted(await upload('', String.fromCharCode(99 + index).repeat(bytes)));
    remaining -= bytes + name.length;
  }
  assertRefused(row, await upload('', 'z'));
});
