import { setTimeout } from 'node:timers/promises';
import { ApiError, type Client, createClient, type RunEvent } from '@quartermaster/client';
import type { RunItem, RunQuery } from '@quartermaster/contract';
import { Command } from 'commander';
import { describeFailure } from './describe-failure.ts';
import { complain, printJson, printTable, say, time } from './print.ts';
import { pluginsAddress, readKeyFile } from './service-address.ts';

interface Where {
  readonly url?: string;
  readonly keyFile?: string;
}

interface Filters extends Where {
  readonly bundle?: string;
  readonly plugin?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly limit: string;
  readonly json?: true;
}

/** Runs of plugins of a running service, over its API: a key sees the runs of its project. */
export function runCommands(): Command {
  const run = new Command('run').description('runs of plugins of a running service');
  withPlace(run.command('list').description('the newest first'))
    .option('--bundle <id>', 'of this bundle')
    .option('--plugin <id>', 'of this plugin')
    .option('--outcome <name>', 'that ended so; "none": that have not ended')
    .option('--since <time>', 'made at this time or later, such as 2026-11-21T08:00Z')
    .option('--limit <number>', 'at most so many, up to 100', '20')
    .option('--json', 'one JSON object a line')
    .action(list);
  withPlace(run.command('show <run>').description('everything about one run, as JSON')).action(
    async (runId: string, where: Where) => printJson(await (await connect(where)).runs.get(runId), 2),
  );
  withPlace(run.command('cancel <run>').description('end a run that waits or runs')).action(
    async (runId: string, where: Where) => {
      const { status, outcome } = await (await connect(where)).runs.cancel(runId);
      console.log(outcome ?? status);
    },
  );
  withPlace(
    run.command('watch <run>').description('follow a run until it has ended; fails when it did not succeed'),
  ).action(async (runId: string, where: Where) => watch(await connect(where), runId));
  return run;
}

function withPlace(command: Command): Command {
  return command
    .option('--url <url>', 'plugins address of the service (default: as the settings say)')
    .option('--key-file <path>', 'file that holds an API key');
}

async function connect({ url, keyFile }: Where): Promise<Client> {
  const address = pluginsAddress(url);
  const apiKey = await readKeyFile(keyFile);
  // Runs are on the plugins address; the other one is not asked for anything.
  return createClient({ filesUrl: address, pluginsUrl: address, ...(apiKey === undefined ? {} : { apiKey }) });
}

async function list(filters: Filters): Promise<void> {
  const { bundle, plugin, outcome, since, limit, json } = filters;
  const query = { bundle_id: bundle, plugin_id: plugin, outcome, since: readTime(since), limit: Number(limit) };
  // The service checks it, and names what is wrong.
  const { data, has_more: hasMore } = await (await connect(filters)).runs.list(query as RunQuery);
  if (json === true) {
    for (const run of data) printJson(run);
    return;
  }
  printTable(['RUN', 'BUNDLE', 'PLUGIN', 'STATE', 'MS', 'MADE'], data.map(toRow));
  if (hasMore) console.log('… and more: --limit, --since');
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
  if (Number.isNaN(milliseconds)) throw new Error(`--since: ${JSON.stringify(text)} is no time`);
  return milliseconds;
}

const pauseMs = 1_000;

/** Over broken connections, such as while the service starts anew. */
async function watch({ runs }: Client, runId: string): Promise<void> {
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
      // What the service refuses it will refuse again, unless it is starting or stopping.
      if (error instanceof ApiError && error.status < 500) throw error;
      complain(`quartermaster: ${describeFailure(error)}; trying again`);
    }
    await setTimeout(pauseMs);
  }
}

function describe(event: RunEvent): string {
  if (event.kind === 'state') return event.run.outcome ?? event.run.status;
  const { fraction, message } = event.progress;
  return `${Math.round(fraction * 100)} % ${message ?? ''}`.trimEnd();
}
