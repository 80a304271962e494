import { writeSync } from 'node:fs';
import { openRequestRing, type WatchdogStart } from './watchdog.ts';

const maxRequests = 10;

/** Logs the requests without an answer and ends the process. Called in the watchdog's thread. */
export function endStuckProcess({ ring, logFd }: WatchdogStart, silentSeconds: number): void {
  const unanswered = openRequestRing(ring).unanswered().slice(0, maxRequests);
  const line = {
    level: 'fatal',
    time: Date.now(),
    silent_seconds: silentSeconds,
    unanswered,
    msg: 'event loop blocked',
  };
  if (logFd !== null) writeSync(logFd, `${JSON.stringify(line)}\n`);
  process.kill(process.pid, 'SIGKILL');
}
