import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { commandEnvironment } from '../../../../test/support/command-environment.ts';

const main = join(import.meta.dirname, '..', 'main.ts');

export interface CliResult {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

export interface CliRequest {
  /** Where the login is stored. */
  readonly home: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The working folder; default: that of the test. */
  readonly folder?: string;
}

/** Runs `quartermaster` with an environment of its own. */
export async function runCli(args: readonly string[], request: CliRequest): Promise<CliResult> {
  const { home, environment = {}, input = '', folder } = request;
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...commandEnvironment, HOME: home, ...environment },
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  child.stdin.on('error', () => undefined); // a command that reads no input may end first
  child.stdin.end(input);
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, output, errors };
}
