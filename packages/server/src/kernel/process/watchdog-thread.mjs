import { workerData } from 'node:worker_threads';

// Written in JavaScript, because stripping the types of a file would cost this thread 12 MiB.
const { cells, seconds, tickMs } = workerData;
const [beatCell, longestCell] = [0, 1];
/** Milliseconds after which a process that has not ended by other means is killed. */
const patienceMs = 60_000;

let lastBeat = 0;
let silentTicks = 0;
// Ticks of this thread are counted, not time: a process that is stopped or a machine that sleeps has no ticks.
const timer = setInterval(() => {
  const beat = Atomics.load(cells, beatCell);
  // The first beat comes when the service has started.
  silentTicks = beat === lastBeat && beat !== 0 ? silentTicks + 1 : 0;
  lastBeat = beat;
  if (silentTicks > Atomics.load(cells, longestCell)) Atomics.store(cells, longestCell, silentTicks);
  const silentSeconds = (silentTicks * tickMs) / 1000;
  if (silentSeconds < seconds) return;
  clearInterval(timer);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), patienceMs);
  import('./end-stuck-process.ts').then(({ endStuckProcess }) => endStuckProcess(workerData, silentSeconds));
}, tickMs);
