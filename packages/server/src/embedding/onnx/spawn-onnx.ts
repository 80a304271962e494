import { type ChildProcess, fork } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StartMessage } from './onnx-protocol.ts';

const entry = fileURLToPath(new URL('./onnx-child.ts', import.meta.url));
/** Requests of people come before the making of vectors. */
const niceness = 5;

/**
 * A process with an empty environment that may read its program, the runtime and the model's folder. The runtime is
 * native code, which Node's permissions do not bind: they are a second lock, the model is the operator's.
 */
export function spawnOnnx({ runtime, model }: StartMessage): ChildProcess {
  const folders = [dirname(dirname(entry)), dirname(runtime), dirname(model.modelFile), dirname(model.tokenizerFile)];
  const child = fork(entry, [], {
    env: {},
    cwd: '/',
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Its own group: Ctrl-C is for the server, which ends its children itself.
    detached: true,
    execArgv: [
      '--permission',
      '--allow-addons',
      ...new Set(folders.map((folder) => `--allow-fs-read=${realpathSync(folder)}${sep}*`)),
      '--disallow-code-generation-from-strings',
      '--disable-warning=SecurityWarning',
      '--disable-warning=ExperimentalWarning',
    ],
  });
  try {
    if (child.pid !== undefined) setPriority(child.pid, niceness);
  } catch {
    // It has ended already, which is noticed elsewhere.
  }
  return child;
}
