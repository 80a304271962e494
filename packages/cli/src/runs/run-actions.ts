import { RunFailedError, type RunItem, type RunState } from '@quartermaster/client';
import { type ConnectionOptions, connect } from '../connection/connection.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { printJson, printTable, say, time } from '../output/print.ts';

export interface Output extends ConnectionOptions {
  readonly json?: true;
}

export interface Filters extends Output {
  readonly bundle?: string;
  readonly plugin?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly limit: string;
}

/** Prints the newest runs. */
export async function listRuns(filters: Filters): Promise<void> {
  const { bundle, plugin, outcome, since, limit, json } = filters;
  const query = { bundle_id: bundle, plugin_id: plugin, outcome, since: readTime(since), limit: Number(limit) };
  const { runs } = await connect(filters, 'plugins');
  // The service validates the query and reports its errors.
  const { data, has_more: hasMore } = await runs.list(query as Parameters<typeof runs.list>[0]);
  if (json === true) {
    for (const run of data) printJson(run);
    return;
  }
  printTable(['RUN', 'BUNDLE', 'PLUGIN', 'STATE', 'MS', 'CREATED'], data.map(toRow));
  if (hasMore) console.log('There are more runs. Use --limit or --since to see them.');
}

function toRow(run: RunItem): string[] {
  const { run_id, bundle_id, plugin_id, status, outcome, duration_ms, created_timestamp } = run;
  return [
    ...[run_id, bundle_id, plugin_id ?? '(credentials)', outcome ?? status],
    ...[duration_ms === null ? '-' : duration_ms.toFixed(1), time(created_timestamp)],
  ];
}

function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds))
    throw new CommandError(
      exitCodes.usage,
      `--since must be a time such as 2026-11-21T08:00Z; received ${JSON.stringify(text)}.`,
    );
  return milliseconds;
}

export async function showRun(runId: string, options: Output): Promise<void> {
  const { runs } = await connect(options, 'plugins');
  printJson(await runs.get(runId), options.json === true ? undefined : 2);
}

export async function cancelRun(runId: string, options: Output): Promise<void> {
  const { runs } = await connect(options, 'plugins');
  const run = await runs.cancel(runId);
  if (options.json === true) printJson(run);
  else say(run.outcome ?? run.status);
}

/** Prints each state of a run until it has ended, then its result or its error. A restart of the service does not end the wait. */
export async function watchRun(runId: string, options: Output): Promise<void> {
  const { runs } = await connect(options, 'plugins');
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
