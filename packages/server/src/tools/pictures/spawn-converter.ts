import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type IsolatedChild,
  type SpawnSettings,
  spawnIsolated,
} from '../../platform/processes/isolation/spawn-isolated.ts';
import { channelFiles } from '../../platform/processes/supervised-process.ts';
import { modulePath } from '../../platform/server-process/module-path.ts';

const entry = realpathSync(modulePath(import.meta, './child'));
const library = '@resvg/resvg-wasm';

/** The memory limit of the process. A picture of 2,048 × 2,048 pixels has 16 MiB, and each layer of it as much. */
export const converterMemoryMb = 256;
/** Memory that Node.js and WebAssembly map as writable at the start, mostly untouched. */
const mappedAtStartMb = 1280;
/** The processor time of one process. It ends a process that hangs after the server was killed. */
const cpuSeconds = 120;

/** Starts a process that converts pictures: an empty environment, access to its program only, no network, no other processes. */
export function spawnConverter(settings: SpawnSettings): IsolatedChild {
  return spawnIsolated(
    {
      entry,
      args: [],
      flags: ['--max-old-space-size=128'],
      readable: converterFiles(),
      folder: '/',
      // The memory watch ends the process at its limit. This limit bounds what it can allocate between two checks.
      limits: { dataMb: mappedAtStartMb + 2 * converterMemoryMb, fileMb: 0, descriptors: 256, tasks: 64, cpuSeconds },
      memoryMb: converterMemoryMb,
      // A picture may take its whole time limit. Records and runs of others come first.
      niceness: 10,
    },
    settings,
  );
}

/** This module, the channel and the library. */
export function converterFiles(): string[] {
  const lookedIn = createRequire(import.meta.url).resolve.paths(library) ?? [];
  const found = lookedIn.find((folder) => existsSync(join(folder, library)));
  const files = [dirname(entry), ...channelFiles, ...(found === undefined ? [] : [join(found, library)])];
  return files.map((file) => realpathSync(file));
}
