import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { commandEnvironment } from './command-environment.ts';
import type { ServiceRequest, StartedService } from './service.ts';

export interface CommandResult {
  readonly code: number;
  /** The trimmed standard output. */
  readonly output: string;
  readonly errors: string;
}

/** Runs `quartermaster` on the store of a service. */
export async function runCommand(
  service: Pick<StartedService, 'folder'> & Pick<ServiceRequest, 'settings'>,
  ...args: readonly string[]
): Promise<CommandResult> {
  const settings = Object.fromEntries(
    Object.entries(service.settings ?? {}).map(([name, value]) => [`QUARTERMASTER_${name}`, value]),
  );
  const child = spawn(process.execPath, ['packages/cli/src/main.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...commandEnvironment, QUARTERMASTER_DATA: service.folder, ...settings },
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, output: output.trim(), errors };
}
