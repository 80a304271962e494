import { frameHeaderBytes, frameKinds } from '../../../platform/processes/frames.ts';
import { bounds, type FromChild } from './protocol.ts';
import { readFromChild, readLargeFromChild } from './read-from-child.ts';
import type { SandboxLimits } from './sandbox.ts';

/** Receives the frames of a child. It checks their sizes and number before it parses them. */
export interface Inbox {
  receive(kind: number, content: Buffer): void;
  /** The longest frame that the child may send now. */
  maxFrameBytes(): number;
  /** Kills a child that sends a frame over {@link Inbox.maxFrameBytes}. */
  refuseFrame(): void;
  /** Adds the allowance of a run that was sent to the child. */
  allow(limits: SandboxLimits): void;
  /** Replaces the allowance by that of the remaining runs. The unused part of an ended run expires. */
  allowOnly(limits: readonly SandboxLimits[]): void;
}

export interface InboxOptions {
  readonly onMessage: (message: FromChild) => void;
  /** Called once; nothing is read afterwards. `rule` completes a sentence that describes what the child did. */
  readonly onRuleBroken: (rule: string) => void;
}

/** The allowance beyond the output and the requests of a run: logs, progress and envelopes. */
const spareBytes = 1024 * 1024;
const idleAllowance = { messages: 100, bytes: 64 * 1024 };

export function createInbox({ onMessage, onRuleBroken }: InboxOptions): Inbox {
  let isTrusted = true;
  let allowance = { ...idleAllowance };
  let maxFrameBytes: number = bounds.requestBytes;

  function breakRule(rule: string): void {
    isTrusted = false;
    onRuleBroken(rule);
  }

  /** Called for frames after a kill too: the answers among them show which run had begun. */
  function receive(kind: number, content: Buffer): void {
    if (!isTrusted) return;
    allowance.messages -= 1;
    allowance.bytes -= frameHeaderBytes + content.length;
    if (allowance.bytes < 0) breakRule('sent more data than allowed');
    else if (allowance.messages < 0) breakRule('sent too many messages');
    else if (kind !== frameKinds.message) breakRule('sent an invalid message');
    else if (content.length > bounds.parsedBytes) pass(readLargeFromChild(content));
    else pass(readFromChild(content.toString('utf8')));
  }

  function pass(message: FromChild | undefined): void {
    if (message === undefined) breakRule('sent an invalid message');
    else onMessage(message);
  }

  function allow({ maxOutputBytes, maxRequests }: SandboxLimits): void {
    allowance.messages += idleAllowance.messages + bounds.logLines + bounds.progressReports + maxRequests;
    allowance.bytes += maxOutputBytes + maxRequests * bounds.requestBytes + spareBytes;
    maxFrameBytes = Math.max(maxOutputBytes, bounds.requestBytes) + 4096;
  }

  return {
    receive,
    maxFrameBytes: () => maxFrameBytes,
    refuseFrame: () => {
      if (isTrusted) breakRule('sent more output than allowed');
    },
    allow,
    allowOnly: (limits) => {
      allowance = { ...idleAllowance };
      for (const each of limits) allow(each);
    },
  };
}
