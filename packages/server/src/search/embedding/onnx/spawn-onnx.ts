import { realpathSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MachineIsolation } from '../../../processes/isolation/find-isolation.ts';
import { type IsolatedChild, spawnIsolated } from '../../../processes/isolation/spawn-isolated.ts';
import { channelFiles } from '../../../processes/supervised-process.ts';
import type { StartMessage } from './onnx-protocol.ts';

const entry = fileURLToPath(new URL('./onnx-child.ts', import.meta.url));
/** Requests of people come before the computation of vectors. */
const niceness = 5;

export interface OnnxPlan {
  readonly start: StartMessage;
  readonly memoryMb: number;
  readonly machine: MachineIsolation['machine'];
}

/**
 * Starts the process that holds the model: an empty environment, and permission to read its program, the runtime and
 * the folder of the model. The runtime is native code, which the permissions of Node.js do not bind: they are a second
 * lock, since the model is the operator's. It stays the user of the server, whose files the model is among.
 */
export function spawnOnnx({ start: { runtime, model }, memoryMb, machine }: OnnxPlan): IsolatedChild {
  const folders = [dirname(dirname(entry)), dirname(runtime), dirname(model.modelFile), dirname(model.tokenizerFile)];
  const spawned = spawnIsolated(
    {
      entry,
      args: [],
      flags: ['--allow-addons', '--disable-warning=SecurityWarning', '--disable-warning=ExperimentalWarning'],
      readable: [...new Set([...folders, ...channelFiles].map((path) => realpathSync(path)))],
      folder: '/',
      // The runtime maps far more memory than it uses: the watch on memory alone bounds it.
      limits: { fileMb: 0, descriptors: 1024, tasks: 1024 },
      memoryMb,
    },
    { user: undefined, hasUtilLinux: machine.settings.hasUtilLinux, isSandboxed: false, keepsCapabilities: true },
  );
  try {
    if (spawned.process.pid !== undefined) setPriority(spawned.process.pid, niceness);
  } catch {
    // It has exited already, which is noticed elsewhere.
  }
  return spawned;
}
