import type { Socket } from 'node:net';
import { bounds, createLineReader, type FromChild } from './protocol.ts';
import { readFromChild } from './read-from-child.ts';
import type { SandboxLimits } from './sandbox.ts';

/** What comes from a child, measured before it is believed to be anything. */
export interface Inbox {
  /** A run was handed over: it may send what belongs to it, besides. */
  allow(limits: SandboxLimits): void;
  /** A run is over: what it did not send is forfeit. These are those that are left. */
  allowOnly(limits: readonly SandboxLimits[]): void;
}

export interface InboxOptions {
  readonly onMessage: (message: FromChild) => void;
  /** Called once: nothing more is read. `rule` is what the child has done, as the rest of a sentence. */
  readonly onRuleBroken: (rule: string) => void;
}

/** Beside a run's output and requests: logs, progress, envelopes. */
const spareBytes = 1024 * 1024;
const idleAllowance = { messages: 100, bytes: 64 * 1024 };

export function openInbox(channel: Socket, { onMessage, onRuleBroken }: InboxOptions): Inbox {
  let isTrusted = true;
  let allowance = { ...idleAllowance };
  let maxLineBytes: number = bounds.requestBytes;

  function breakRule(rule: string): void {
    isTrusted = false;
    onRuleBroken(rule);
  }

  function receive(line: string): void {
    allowance.messages -= 1;
    const message = readFromChild(line);
    if (allowance.messages < 0) breakRule('sent too many messages');
    else if (message === undefined) breakRule('sent what is not a message');
    else onMessage(message);
  }

  const readChunk = createLineReader({
    onLine: (line) => isTrusted && receive(line),
    onTooLong: () => breakRule('sent more than the limit of its output'),
    maxBytes: () => maxLineBytes,
  });
  // Also what comes after it was killed: the answers it had sent by then tell which run it had begun.
  channel.on('data', (chunk: Buffer) => {
    allowance.bytes -= chunk.length;
    if (!isTrusted) return;
    if (allowance.bytes < 0) breakRule('sent more data than it may');
    else readChunk(chunk);
  });
  // The process ended while something was being written to it; `close` says so.
  channel.on('error', () => {});

  function allow({ maxOutputBytes, maxRequests }: SandboxLimits): void {
    allowance.messages += idleAllowance.messages + bounds.logLines + bounds.progressReports + maxRequests;
    allowance.bytes += maxOutputBytes + maxRequests * bounds.requestBytes + spareBytes;
    maxLineBytes = Math.max(maxOutputBytes, bounds.requestBytes) + 4096;
  }

  return {
    allow,
    allowOnly: (limits) => {
      allowance = { ...idleAllowance };
      for (const each of limits) allow(each);
    },
  };
}
