import { readdirSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Adds to the niceness of a process, for all its threads and, where Linux schedules by session (autogroup), for its session. A
 * detached process has a session of its own, and then the niceness of its threads has no effect on other sessions.
 * It cannot be undone by an ordinary user.
 */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return;
  try {
    const lower = Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW);
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), lower);
    writeFileSync(`/proc/${pid}/autogroup`, String(lower));
  } catch {
    // The process has exited already, or this is no Linux with autogroups.
  }
}
