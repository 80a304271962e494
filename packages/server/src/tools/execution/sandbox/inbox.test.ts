import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameKinds } from '../../../platform/processes/frames.ts';
import { createInbox } from './inbox.ts';
import { bounds } from './protocol.ts';

const log = Buffer.from(JSON.stringify({ type: 'log', run: 'a', message: 'm' }));

function open() {
  const seen: string[] = [];
  const inbox = createInbox({
    onMessage: ({ type }) => void seen.push(type),
    onRuleBroken: (rule) => void seen.push(rule),
  });
  return { inbox, seen };
}

test('a child that sends more messages than it may is stopped, and later messages are not read', () => {
  const { inbox, seen } = open();
  for (let n = 0; n < 105; n += 1) inbox.receive(frameKinds.message, log);
  assert.deepEqual([seen.length, seen.at(99), seen.at(100)], [101, 'log', 'sent too many messages']);
});

test('a child that sends more bytes than it may is stopped', () => {
  const { inbox, seen } = open();
  const long = Buffer.from(JSON.stringify({ type: 'log', run: 'a', message: 'm'.repeat(32_000) }));
  for (let n = 0; n < 4; n += 1) inbox.receive(frameKinds.message, long);
  assert.deepEqual(seen, ['log', 'log', 'sent more data than allowed']);
});

test('only the runs that remain in a child allow it messages, and none of the allowance before is left', () => {
  const limits = { timeoutMs: 1, memoryMb: 1, cpuMs: 1, maxOutputBytes: 0, maxRequests: 0 };
  const idle = 100;
  const ofRun = idle + bounds.logLines + bounds.progressReports;
  for (const remaining of [0, 1]) {
    const { inbox, seen } = open();
    for (let run = 0; run < 3; run += 1) inbox.allow(limits);
    inbox.allowOnly(Array.from({ length: remaining }, () => limits));
    const allowed = idle + remaining * ofRun;
    for (let n = 0; n <= allowed; n += 1) inbox.receive(frameKinds.message, log);
    assert.deepEqual([seen.length, seen.at(-2), seen.at(-1)], [allowed + 1, 'log', 'sent too many messages']);
  }
});

test('a frame of another kind is not a message, whatever it contains', () => {
  const { inbox, seen } = open();
  inbox.receive(frameKinds.bytes, log);
  assert.deepEqual(seen, ['sent an invalid message']);
});

test('a run allows its child longer frames, up to the limit of its output', () => {
  const { inbox, seen } = open();
  assert.equal(inbox.maxFrameBytes(), bounds.requestBytes);
  const maxOutputBytes = 2 * bounds.requestBytes;
  inbox.allow({ timeoutMs: 1, memoryMb: 1, cpuMs: 1, maxOutputBytes, maxRequests: 0 });
  assert.equal(inbox.maxFrameBytes(), maxOutputBytes + 4096);
  inbox.refuseFrame();
  inbox.refuseFrame();
  assert.deepEqual(seen, ['sent more output than allowed']);
});
