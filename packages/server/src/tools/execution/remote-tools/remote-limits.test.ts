import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputPartLimits } from '../output-parts/output-part.ts';
import type { RunProgress } from '../run.ts';
import { createProgressReader, progressLimits } from './read-progress.ts';
import { boundContents } from './run-tool.ts';

const token = 7;

/** Returns the events that report the progress of a call. */
function progressEvents(count: number, { message = 'working', other = '' } = {}): string {
  const events = Array.from({ length: count }, (_, index) => {
    const params = { progressToken: token, progress: index + 1, message, other };
    return `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`;
  });
  return events.join('');
}

function read(...chunks: readonly string[]): RunProgress[] {
  const reports: RunProgress[] = [];
  const reader = createProgressReader(token, (progress) => reports.push(progress));
  for (const chunk of chunks) reader(Buffer.from(chunk));
  return reports;
}

test('a flood of progress ends after the limit progress_events', () => {
  assert.equal(read(progressEvents(progressLimits.events)).length, progressLimits.events);
  const flood = Array.from({ length: 20 }, () => progressEvents(100));
  assert.equal(read(...flood).length, progressLimits.events);
});

test('an event above the limit progress_event_characters is skipped, whole or in pieces, and the next one is read', () => {
  const long = progressEvents(1, { other: 'x'.repeat(progressLimits.event) });
  const next = progressEvents(1);
  assert.equal(read(long + next).length, 1);
  const pieces = (long + next).match(/[\s\S]{1,1000}/g) ?? [];
  assert.equal(read(...pieces).length, 1);
  const endless = Array.from({ length: 100 }, () => 'x'.repeat(progressLimits.event));
  assert.equal(read('data: ', ...endless, '\n\n', next).length, 1);
});

test('a message of progress is cut at the limit progress_message_characters', () => {
  const [report] = read(progressEvents(1, { message: 'm'.repeat(10_000) }));
  assert.equal(report?.message?.length, progressLimits.message);
});

test('progress with another token or without numbers is ignored', () => {
  const events = [{ progressToken: 8, progress: 1 }, { progressToken: token, progress: -1 }, { progressToken: token }];
  const lines = events.map((params) => `data: ${JSON.stringify({ method: 'notifications/progress', params })}\n\n`);
  assert.deepEqual(read(...lines, 'data: notifications/progress\n\n', 'data: [null]\n\n'), []);
});

test('contents beside an output are passed up to the limit remote_contents, and a note counts the others', () => {
  const link = { type: 'resource_link', uri: 'https://example.com/', name: 'page' };
  const most = outputPartLimits.contents;
  const given = (count: number) => Array.from({ length: count }, () => link);
  assert.deepEqual(boundContents(given(most)), given(most));
  const text = `Further contents were left out: 3. At most ${most} contents are passed on.`;
  assert.deepEqual(boundContents(given(most + 3)), [...given(most), { type: 'text', text }]);
});

test('a content above the limit remote_content_bytes is replaced by a note, and smaller ones are passed', () => {
  const picture = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(outputPartLimits.inlineBytes) };
  const link = { type: 'resource_link', uri: 'https://example.com/', name: 'page' };
  const [first, second] = boundContents([picture, link]);
  assert.match(String(first?.text), /^A content of \d+ bytes was left out because of its size\.$/);
  assert.equal(second, link);
  const half = { ...picture, data: 'A'.repeat(outputPartLimits.inlineBytes / 2) };
  assert.deepEqual(
    boundContents([half, half, link]).map(({ type }) => type),
    ['image', 'text', 'resource_link'],
  );
});
