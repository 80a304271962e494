import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8's collector as a function: the caller knows better than it when there is much to collect, or time for it. */
function exposeCollector(): NodeJS.GCFunction {
  // It has no other door for a program that was started without the flag; nobody else gets it.
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/**
 * Collects the garbage of the start and hands its pages back to the system: reading and compiling leave a sixth of the
 * memory of an idle service behind, and V8 collects so thoroughly only when memory runs out. Takes about 100 ms, so it
 * is for the time before anything of the first request is read.
 */
export function giveBackMemory(): void {
  exposeCollector()({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
