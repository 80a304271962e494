import { type Quartermaster, RunFailedError, type RunState } from '@quartermaster/client';
import type { ServiceOptions } from '../connection/service-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { printJson, say } from '../output/print.ts';

/** Prints each state of a run until it has ended, then its result or its error. A restart of the service does not end the wait. */
export async function watchRun({ runs }: Quartermaster, runId: string, options: ServiceOptions): Promise<void> {
  const indent = options.json === true ? undefined : 2;
  let last = '';
  const onProgress = (state: RunState) => {
    const line = options.json === true ? JSON.stringify(state) : describe(state);
    if (line === last) return;
    last = line;
    say(line);
  };
  try {
    printJson((await runs.wait(runId, { timeout: 0, onProgress })).result, indent);
  } catch (error) {
    if (!(error instanceof RunFailedError)) throw error;
    printJson(error.run.error, indent);
    process.exitCode = exitCodes.failed;
  }
}

function describe(state: RunState): string {
  if ('run_id' in state) return state.outcome ?? state.status;
  const { fraction, message } = state.progress;
  return `${Math.round(fraction * 100)} % ${message ?? ''}`.trimEnd();
}
