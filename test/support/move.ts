import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { S3RequestSeen, S3Server } from '../../packages/server/src/storage/s3/testing/s3-server.fixture.ts';
import { commandEnvironment } from './command-environment.ts';
import { type CommandResult, runCommand } from './run-command.ts';

export type Settings = Readonly<Record<string, string>>;

export const move = (settings: Settings, environment: Settings, ...args: string[]): Promise<CommandResult> =>
  runCommand({ settings, environment }, 'move', '--json', ...args);

export interface KilledMove {
  readonly settings: Settings;
  readonly environment: Settings;
  readonly args: readonly string[];
  /** The number of the request at which the move is killed, among those that count. */
  readonly at: number;
  readonly counts?: (request: S3RequestSeen) => boolean;
}

/** Starts a move that is killed at a request to the storage. */
export async function killedMove(storage: S3Server, killed: KilledMove): Promise<void> {
  const { settings, environment, args, at, counts = () => true } = killed;
  const own = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`QUARTERMASTER_${name}`, value]));
  const child = spawn(process.execPath, ['packages/cli/src/main.ts', 'move', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...commandEnvironment, ...environment, ...own },
  });
  let count = 0;
  storage.choose = (request) => {
    if (counts(request)) count += 1;
    if (count === at) child.kill('SIGKILL');
    return undefined;
  };
  const [, signal] = await once(child, 'exit');
  storage.choose = () => undefined;
  assert.equal(signal, 'SIGKILL');
}
