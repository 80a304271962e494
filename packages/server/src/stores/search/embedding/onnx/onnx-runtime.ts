import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../../../platform/server-process/operator-error.ts';

/** The runtime is installed next to this file, separately from the service: ADR 0050. */
export const runtimeManifest = fileURLToPath(new URL('../../../../../onnx-runtime/package.json', import.meta.url));
const advice = 'In the folder of Quartermaster, run: npm run add-onnx';

/** @throws OperatorError that names the command to install the runtime */
export async function checkRuntime(manifest: string): Promise<void> {
  const { dependencies } = await readManifest(manifest);
  for (const [name, wanted] of Object.entries(dependencies ?? {})) {
    const found = await readManifest(join(dirname(manifest), 'node_modules', name, 'package.json')).catch(() => null);
    if (found?.version === wanted) continue;
    const state = found === null ? 'which is not installed' : `and ${found.version} is installed`;
    throw new OperatorError(`QUARTERMASTER_EMBEDDING_PROVIDER=onnx needs ${name} ${wanted}, ${state}. ${advice}`);
  }
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

async function readManifest(file: string): Promise<Manifest> {
  return JSON.parse(await readFile(file, 'utf8')) as Manifest; // npm writes them, and we one
}
