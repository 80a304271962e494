import { frameHeaderBytes, frameKinds } from '../../processes/frames.ts';
import { bounds, type FromChild } from './protocol.ts';
import { readFromChild } from './read-from-child.ts';
import type { SandboxLimits } from './sandbox.ts';

/** What comes from a child, measured before it is believed to be anything. */
export interface Inbox {
  receive(kind: number, content: Buffer): void;
  /** Longest frame that the child may send now. */
  maxFrameBytes(): number;
  /** The child sent too long a frame. */
  refuseFrame(): void;
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

export function createInbox({ onMessage, onRuleBroken }: InboxOptions): Inbox {
  let isTrusted = true;
  let allowance = { ...idleAllowance };
  let maxFrameBytes: number = bounds.requestBytes;

  function breakRule(rule: string): void {
    isTrusted = false;
    onRuleBroken(rule);
  }

  /** Also what comes after it was killed: the answers it had sent by then tell which run it had begun. */
  function receive(kind: number, content: Buffer): void {
    if (!isTrusted) return;
    allowance.messages -= 1;
    allowance.bytes -= frameHeaderBytes + content.length;
    if (allowance.bytes < 0) breakRule('sent more data than it may');
    else if (allowance.messages < 0) breakRule('sent too many messages');
    else if (kind !== frameKinds.message) breakRule('sent what is not a message');
    else parse(content.toString('utf8'));
  }

  function parse(text: string): void {
    const message = readFromChild(text);
    if (message === undefined) breakRule('sent what is not a message');
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
      if (isTrusted) breakRule('sent more than the limit of its output');
    },
    allow,
    allowOnly: (limits) => {
      allowance = { ...idleAllowance };
      for (const each of limits) allow(each);
    },
  };
}
