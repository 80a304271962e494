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
