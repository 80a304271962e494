import { processEnvironment } from '@quartermaster/server/environment';
import type { ConnectionOptions } from '../connection/connection.ts';
import { exitCodes } from '../exit-codes.ts';
import { printJson, say } from '../output/print.ts';
import { type Check, failed, ok } from './check.ts';
import { checkService } from './check-service.ts';

export interface DoctorOptions extends ConnectionOptions {
  readonly json?: true;
  readonly local?: true;
}

const oldestNode = 24;
const marks = { ok: 'ok      ', warning: 'warning ', failed: 'FAILED  ' } as const;

/** Prints each check as soon as it is known. The exit code is 1 when one failed. */
export async function runDoctor(options: DoctorOptions): Promise<void> {
  const report = ({ name, state, message }: Check) => {
    if (options.json === true) printJson({ name, state, message });
    else say(`${marks[state]} ${name.padEnd(13)} ${message}`);
    if (state === 'failed') process.exitCode = exitCodes.failed;
  };
  report(checkNode(process.versions.node));
  const checks = options.local === true ? checkMachine() : checkService(options);
  for await (const check of checks) report(check);
}

export function checkNode(version: string): Check {
  if (Number.parseInt(version, 10) >= oldestNode) return ok('Node.js', version);
  return failed('Node.js', `${version} is too old. Install Node.js ${oldestNode} or later from https://nodejs.org.`);
}

async function* checkMachine(): AsyncGenerator<Check> {
  const machine = await import('@quartermaster/server/machine-checks');
  yield* machine.checkMachine(processEnvironment());
}
