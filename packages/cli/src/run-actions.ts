import { setTimeout } from 'node:timers/promises';
import { ApiError, type Client, createClient, type RunEvent } from '@quartermaster/client/api';
import type { RunItem, RunQuery } from '@quartermaster/contract';
import { describeFailure } from './describe-failure.ts';
import { complain, printJson, printTable, say, time } from './print.ts';
import { pluginsAddress, readKeyFile } from './service-address.ts';

export interface Where {
  readonly url?: string;
  readonly keyFile?: string;
}

export interface Filters extends Where {
  readonly bundle?: string;
  readonly plugin?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly limit: string;
  readonly json?: true;
}

async function connect({ url, keyFile }: Where): Promise<Client> {
  const address = pluginsAddress(url);
  const apiKey = await readKeyFile(keyFile);
  // Runs are on the plugins address; the client sends no request to the files address.
  return createClient({ filesUrl: address, pluginsUrl: address, ...(apiKey === undefined ? {} : { apiKey }) });
}

/** Prints the newest runs. */
export async function listRuns(filters: Filters): Promise<void> {
  const { bundle, plugin, outcome, since, limit, json } = filters;
  const query = { bundle_id: bundle, plugin_id: plugin, outcome, since: readTime(since), limit: Number(limit) };
  // The service validates the query and reports its errors.
  const { data, has_more: hasMore } = await (await connect(filters)).runs.list(query as RunQuery);
  if (json === true) {
    for (const run of data) printJson(run);
    return;
  }
  printTable(['RUN', 'BUNDLE', 'PLUGIN', 'STATE', 'MS', 'MADE'], data.map(toRow));
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
    throw new Error(`--since must be a time such as 2026-11-21T08:00Z; received ${JSON.stringify(text)}.`);
  return milliseconds;
}

const pauseMs = 1_000;

export async function showRun(runId: string, where: Where): Promise<void> {
  printJson(await (await connect(where)).runs.get(runId), 2);
}

export async function cancelRun(runId: string, where: Where): Promise<void> {
  const { status, outcome } = await (await connect(where)).runs.cancel(runId);
  console.log(outcome ?? status);
}

/** Reconnects after a broken connection, such as during a restart of the service. */
export async function watchRun(runId: string, where: Where): Promise<void> {
  const { runs } = await connect(where);
  let lastEventId: string | undefined;
  for (;;) {
    try {
      for await (const event of runs.events(runId, { lastEventId })) {
        lastEventId = event.id ?? lastEventId;
        say(describe(event));
      }
      const run = await runs.get(runId);
      if (run.status === 'ended') {
        printJson(run.outcome === 'succeeded' ? run.result : run.error, 2);
        process.exitCode = run.outcome === 'succeeded' ? 0 : 1;
        return;
      }
    } catch (error) {
      // A retry helps only while the service starts or stops.
      if (error instanceof ApiError && error.status < 500) throw error;
      complain(`quartermaster: ${describeFailure(error)} Retrying.`);
    }
    await setTimeout(pauseMs);
  }
}

function describe(event: RunEvent): string {
  if (event.kind === 'state') return event.run.outcome ?? event.run.status;
  const { fraction, message } = event.progress;
  return `${Math.round(fraction * 100)} % ${message ?? ''}`.trimEnd();
}
