import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { commandEnvironment } from './command-environment.ts';
import type { ServiceRequest } from './service.ts';

export interface CommandResult {
  readonly code: number;
  /** The trimmed standard output. */
  readonly output: string;
  readonly errors: string;
}

/** Where a command runs. The settings have no prefix. */
export interface CommandPlace extends Pick<ServiceRequest, 'settings'> {
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The text of the standard input. Default: none. */
  readonly input?: string;
}

/** Runs `quartermaster` on the store of a service. */
export async function runCommand(
  { folder, settings = {}, environment, input = '' }: CommandPlace,
  ...args: readonly string[]
): Promise<CommandResult> {
  const all = folder === undefined ? settings : { DATA: folder, ...settings };
  const own = Object.fromEntries(Object.entries(all).map(([name, value]) => [`QUARTERMASTER_${name}`, value]));
  const child = spawn(process.execPath, ['packages/cli/src/main.ts', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...commandEnvironment, ...environment, ...own },
  });
  // A command may end without reading.
  child.stdin.on('error', () => {}).end(input);
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

/** Runs a command that must succeed. Returns its output. @throws Error with the members of the result */
export async function succeed(place: CommandPlace, ...args: readonly string[]): Promise<string> {
  const result = await runCommand(place, ...args);
  if (result.code !== 0) throw Object.assign(new Error(result.errors), result);
  return result.output;
}
