import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { parentPort, workerData } from 'node:worker_threads';
import { cell, createWaitClock, now, tickMs } from './loop-probe.ts';
import type { ProbeAnswer } from './loop-probe-client.ts';

/** The thread of the probe. It answers on a socket even while the main thread is busy. */
const { shared, socket } = workerData as { shared: SharedArrayBuffer; socket: string }; // set by loop-probe.ts
const cells = new Float64Array(shared);
const waited = createWaitClock();

let usage = process.cpuUsage();

const commands: Readonly<Record<string, () => void | Promise<void>>> = {
  /** Starts a measurement. */
  reset: () => {
    cells[cell.longestDelay] = 0;
    cells[cell.processorOfLongest] = 0;
    usage = process.cpuUsage();
    // Resets the peak of the resident memory to its present size.
    writeFileSync('/proc/self/clear_refs', '5');
  },
  read: () => {},
  collect: async () => {
    const collected = new Promise((resolve) => parentPort?.once('message', resolve));
    parentPort?.postMessage('collect');
    await collected;
  },
};

function answer(): ProbeAnswer {
  const waiting = waited() - (cells[cell.waitAtLastTick] ?? 0);
  const silent = now() - (cells[cell.lastTick] ?? 0) - tickMs - waiting;
  const longest = cells[cell.longestDelay] ?? 0;
  const isOpen = silent > longest;
  const { user, system } = process.cpuUsage(usage);
  const status = readFileSync('/proc/self/status', 'utf8');
  return {
    delay: isOpen ? silent : longest,
    delayProcessor: isOpen ? silent : (cells[cell.processorOfLongest] ?? 0),
    processor: (user + system) / 1_000,
    memory: mebibytes(status, 'VmRSS'),
    peakMemory: mebibytes(status, 'VmHWM'),
  };
}

function mebibytes(status: string, field: string): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
}

createServer((connection) => {
  connection.on('error', () => {});
  // The service has its own session and would outlive an interrupted proof.
  connection.on('close', () => process.kill(process.pid, 'SIGKILL'));
  createInterface({ input: connection }).on('line', async (line) => {
    await commands[line]?.();
    connection.write(`${JSON.stringify(answer())}\n`);
  });
}).listen(socket);
