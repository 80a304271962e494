import { workerData } from 'node:worker_threads';

// Written in JavaScript, because stripping the types of a file would cost this thread 12 MiB.
const { cells, seconds, tickMs } = workerData;
const [heartbeatCell, longestCell] = [0, 1];
/** Milliseconds after which the process ends even when the log line cannot be written. */
const logMs = 10_000;

let lastHeartbeat = 0;
let silentTicks = 0;
// Ticks of this thread are counted, not time: a process that is stopped or a machine that sleeps has no ticks.
const timer = setInterval(() => {
  const heartbeat = Atomics.load(cells, heartbeatCell);
  // The first heartbeat comes when the service has started.
  silentTicks = heartbeat === lastHeartbeat && heartbeat !== 0 ? silentTicks + 1 : 0;
  lastHeartbeat = heartbeat;
  if (silentTicks > Atomics.load(cells, longestCell)) Atomics.store(cells, longestCell, silentTicks);
  const silentSeconds = (silentTicks * tickMs) / 1000;
  if (silentSeconds < seconds) return;
  clearInterval(timer);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), logMs);
  import('./end-stuck-process.ts').then(({ endStuckProcess }) => endStuckProcess(workerData, silentSeconds));
}, tickMs);
