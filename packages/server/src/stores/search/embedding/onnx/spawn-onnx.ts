import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { MachineIsolation } from '../../../../platform/processes/isolation/find-isolation.ts';
import { type IsolatedChild, spawnIsolated } from '../../../../platform/processes/isolation/spawn-isolated.ts';
import { channelFiles } from '../../../../platform/processes/supervised-process.ts';
import { modulePath } from '../../../../platform/server-process/module-path.ts';
import type { StartMessage } from './onnx-protocol.ts';

const entry = modulePath(import.meta, './onnx-child');

export interface OnnxPlan {
  readonly start: StartMessage;
  readonly memoryMb: number;
  readonly machine: MachineIsolation['machine'];
}

/**
 * Starts the process that holds the model. Its environment is empty. It may read its program, the runtime and the
 * folder of the model. The permissions of Node.js do not bind native code such as the runtime. They are a second
 * barrier only, because the operator supplies the model. The process runs as the server's user, who owns the model's
 * files.
 */
export function spawnOnnx({ start: { runtime, model }, memoryMb, machine }: OnnxPlan): IsolatedChild {
  const folders = [dirname(dirname(entry)), dirname(runtime), dirname(model.modelFile), dirname(model.tokenizerFile)];
  return spawnIsolated(
    {
      entry,
      args: [],
      flags: ['--allow-addons', '--disable-warning=SecurityWarning', '--disable-warning=ExperimentalWarning'],
      readable: [...new Set([...folders, ...channelFiles].map((path) => realpathSync(path)))],
      folder: '/',
      // The runtime maps far more memory than it uses, so only the memory watch bounds it.
      limits: { fileMb: 0, descriptors: 1024, tasks: 1024 },
      memoryMb,
      niceness: 5,
    },
    { user: undefined, hasUtilLinux: machine.settings.hasUtilLinux, isSandboxed: false, keepsCapabilities: true },
  );
}
