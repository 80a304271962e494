import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects the garbage of the start and hands its pages back to the system: reading and compiling leave a third of the
 * memory of an idle service behind, and V8 collects so thoroughly only when memory runs out. Takes about 100 ms, so it
 * is for the time before the first request.
 */
export function giveBackMemory(): void {
  // The collector has no other door for a program that was started without the flag.
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
