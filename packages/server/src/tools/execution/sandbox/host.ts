import { randomUUID } from 'node:crypto';
import { frameKinds } from '../../../platform/processes/frames.ts';
import type { IsolatedChild } from '../../../platform/processes/isolation/spawn-isolated.ts';
import { type ProcessExit, superviseProcess } from '../../../platform/processes/supervised-process.ts';
import {
  readProcessorMs,
  readResidentMb,
  type UsageWatch,
  type Watched,
} from '../../../platform/processes/usage-watch.ts';
import { createInbox } from './inbox.ts';
import type { FromChild, ToChild } from './protocol.ts';
import { createRun, type Run, type RunEnded } from './run.ts';
import type { SandboxOutcome, SandboxTask } from './sandbox.ts';

/**
 * One child process. It executes its runs one at a time, in the order in which they were sent. It is killed when it breaks a rule
 * of the protocol.
 */
export interface Host {
  /** The id of the process that runs handlers; undefined when it could not be started. */
  pid(): number | undefined;
  /** Resolves with true when the child can take a run, and with false when it exited before. */
  readonly ready: Promise<boolean>;
  /** Resolves when the process has exited, with its stderr tail. */
  readonly ended: Promise<string>;
  isAlive(): boolean;
  /** Whether a further run may be sent behind the pending ones. */
  isOpen(): boolean;
  /**
   * Never rejects. Resolves when the run was answered, when the process has exited, or when the child returned the run without
   * beginning it.
   */
  run(assignment: Assignment): Promise<RunEnded>;
  /** Makes the child return all runs that it has not begun. The host is not open until the first run has ended. */
  requeuePending(): void;
  /** Kills the process. `outcome` becomes the outcome of the run in progress, unless that run already has one. */
  kill(outcome?: SandboxOutcome): void;
}

export interface Assignment {
  readonly task: SandboxTask;
  readonly handlerUrl: string;
  readonly signal: AbortSignal;
  readonly hiddenFolders: readonly string[];
}

export function createHost(spawned: IsolatedChild, usage: UsageWatch): Host {
  const inbox = createInbox({ onMessage: receive, onRuleBroken: breakRule });
  const child = superviseProcess(spawned, {
    onFrame: inbox.receive,
    maxFrameBytes: inbox.maxFrameBytes,
    onFrameTooLong: inbox.refuseFrame,
  });
  const { pid, ready, isAlive, output } = child;
  /** The runs in the order of the child. Only the first can have begun, because the child answers a run before it begins the next. */
  const runs: Run[] = [];
  /** The first run, or the last one that was first. The resource usage of the process counts for it. */
  let latest: Run | undefined;
  let isDroppingPending = false;
  /** The first run waits or is slow, so nothing may be pipelined behind it. */
  let isHeld = false;
  let watched: Watched | undefined;
  const check = createUsageCheck({ run: () => latest, onExceeded: kill });

  function kill(outcome?: SandboxOutcome): void {
    if (outcome !== undefined) runs[0]?.setOutcome(outcome);
    child.kill();
  }

  function send(message: ToChild): void {
    child.send(frameKinds.message, JSON.stringify(message));
  }

  function breakRule(what: string): void {
    kill({ kind: 'crashed', message: `The plugin's process was stopped because it ${what}.` });
  }

  function receive(message: FromChild): void {
    const [first] = runs;
    if (message.type === 'pending_dropped') requeueOthers();
    // A message for another run is late or forged. It counts against the limits and has no other effect.
    else if (first !== undefined && 'run' in message && message.run === first.id && first.receive(message)) next();
  }

  /** Removes the first run, which has ended. The child begins the next one. */
  function next(): void {
    redactOutput(runs.shift());
    isHeld = false;
    inbox.allowOnly(runs.map(({ limits }) => limits));
    begin(runs[0]);
  }

  function begin(run: Run | undefined): void {
    run?.begin();
    latest = run ?? latest;
  }

  function requeueOthers(): void {
    isDroppingPending = false;
    for (const run of runs.splice(1)) run.requeue();
  }

  function run({ task, handlerUrl, signal, hiddenFolders }: Assignment): Promise<RunEnded> {
    const { maxOutputBytes, maxRequests } = task.limits;
    // A handler cannot guess the id of another run.
    const id = randomUUID();
    const run = createRun({ id, task, send, kill: () => kill(), signal, onWaiting: requeuePending, hiddenFolders });
    runs.push(run);
    inbox.allow(task.limits);
    // Watches until the process exits: usage after a run counts for that run until the next one begins.
    watched ??= usage.watch({ pid, isBusy: () => runs.length > 0, check });
    watched.wake();
    if (runs.length === 1) begin(run);
    const { input, pluginId: plugin = '' } = task;
    send({ type: 'run', run: id, handler: handlerUrl, plugin, input, maxOutputBytes, maxRequests });
    return run.ended;
  }

  function requeuePending(): void {
    if (runs.length === 0) return;
    isHeld = true;
    if (isDroppingPending || runs.length === 1) return;
    isDroppingPending = true;
    send({ type: 'drop_pending' });
  }

  function redactOutput(run: Run | undefined): void {
    if (run !== undefined) output.redact(run.redact);
  }

  async function finish(): Promise<string> {
    const exit = await child.exited;
    watched?.end();
    requeueOthers();
    const last = runs.shift();
    redactOutput(last);
    last?.end(describeExit({ ...exit, printed: output.text() }, latest?.limits.memoryMb ?? 0));
    return output.text();
  }

  const ended = finish();
  const isOpen = (): boolean => isAlive() && !isDroppingPending && !isHeld;
  return { pid, ready, ended, isAlive, isOpen, run, requeuePending, kill };
}

/** The outcome of a run whose process exited by itself. */
function describeExit(exit: ProcessExit, memoryMb: number): SandboxOutcome {
  const { code, signal, printed } = exit;
  // Bubblewrap reports a signal as its number above 128.
  const isKilled = signal !== null || (code ?? 0) > 128;
  // V8 prints this before it aborts at its heap limit. A plugin that prints it mislabels only its own run.
  if (exit.hasRunOutOfMemory || (isKilled && printed.includes('heap out of memory'))) {
    return { kind: 'out_of_memory', limitMb: memoryMb };
  }
  return { kind: 'crashed', message: `The plugin's process ended (${signal ?? `exit code ${code}`}).` };
}

interface UsageLimits {
  /**
   * The run that resource usage counts for: the one in progress, or the last one. Its processor time counts from the first check
   * that sees the run, so that beginning a run needs no measurement.
   */
  readonly run: () => Run | undefined;
  readonly onExceeded: (outcome: SandboxOutcome) => void;
}

/** @returns a check of a process; it returns true when the run exceeded a limit and `onExceeded` was called */
function createUsageCheck({ run, onExceeded }: UsageLimits): (pid: number) => boolean {
  let first: { readonly run: string; readonly cpuMs: number } | undefined;
  return (pid) => {
    const current = run();
    if (current === undefined) return false;
    const cpuMs = readProcessorMs(pid) ?? 0;
    if (first?.run !== current.id) first = { run: current.id, cpuMs };
    const outcome = judge(current, readResidentMb(pid) ?? 0, cpuMs - first.cpuMs);
    if (outcome !== undefined) onExceeded(outcome);
    return outcome !== undefined;
  };
}

function judge({ limits }: Run, residentMb: number, usedMs: number): SandboxOutcome | undefined {
  if (residentMb > limits.memoryMb) return { kind: 'out_of_memory', limitMb: limits.memoryMb };
  if (usedMs > limits.cpuMs) return { kind: 'timed_out', limitMs: limits.cpuMs, of: 'processor' };
  return undefined;
}
