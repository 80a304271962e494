import { writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Not where the right to do so could not be given up again, nor where threads would only take turns. */
export function mayStartThreads(): boolean {
  return availableParallelism() > 1 && (process.permission?.has('worker') ?? true);
}

/**
 * Gives up the right to start threads, for good; to be called before the first byte of a document comes. A thread that
 * was started before has a right of its own, and has to give it up itself. Where nobody is confined nothing is given up.
 */
export function startNoMoreThreads(): void {
  process.permission?.drop?.('worker');
}

/**
 * Gives up the right to read files. A thread has to: besides the folders of its process it is given the one that its
 * process was started in, which is the root.
 */
export function readNoMoreFiles(): void {
  process.permission?.drop?.('fs');
}

/** The standard output carries frames only; what a library prints is for the log. */
export function printToLog(): void {
  console.log =
    console.info =
    console.debug =
    console.warn =
    console.error =
      (...things) => {
        writeSync(2, `${things.map(String).join(' ').slice(0, 1000)}\n`);
      };
}
