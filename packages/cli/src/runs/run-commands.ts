import type { Quartermaster, RunItem } from '@quartermaster/client';
import { Command } from 'commander';
import { callService, type ServiceOptions, withConnection } from '../connection/service-command.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { printJson, printResult, printTable, say, time } from '../output/print.ts';
import type { ExecuteOptions } from './execute-plugin.ts';

interface Filters extends ServiceOptions {
  readonly bundle?: string;
  readonly plugin?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly limit: string;
}

/** Runs plugins, and lists, shows, cancels and follows their runs over the API of a running service. */
export function runCommands(): Command {
  const run = new Command('run').description('run a plugin; list, show, cancel and follow runs');
  const on = (name: string, description: string) =>
    withConnection(run.command(name).description(description), 'plugins');
  addExecute(run);
  on('list', 'list runs, newest first')
    .option('--bundle <id>', 'list only runs of this bundle')
    .option('--plugin <id>', 'list only runs of this plugin')
    .option('--outcome <name>', 'list only runs with this outcome; "none" lists runs that have not ended')
    .option('--since <time>', 'list only runs created at or after this time, such as 2026-11-21T08:00Z')
    .option('--limit <number>', 'list at most this many runs, up to 100', '20')
    .action(callService('plugins', listRuns));
  on('show', 'print all details of a run as JSON')
    .argument('<run>', 'id of the run')
    .action(
      callService('plugins', async ({ runs }, id: string, { json }: ServiceOptions) =>
        printJson(await runs.get(id), json === true ? undefined : 2),
      ),
    );
  on('cancel', 'cancel a waiting or running run')
    .argument('<run>', 'id of the run')
    .action(
      callService('plugins', async ({ runs }, id: string, options: ServiceOptions) => {
        const cancelled = await runs.cancel(id);
        printResult(options, cancelled, () => say(cancelled.outcome ?? cancelled.status));
      }),
    );
  on('watch', 'follow a run until it ends; exits with 1 unless it succeeded')
    .argument('<run>', 'id of the run')
    .action(
      callService('plugins', async (qm, id: string, options: ServiceOptions) =>
        (await import('./watch-run.ts')).watchRun(qm, id, options),
      ),
    );
  return run;
}

function addExecute(run: Command): void {
  const execute = run
    .command('execute', { isDefault: true })
    .argument('<plugin>', 'bundle and plugin, such as calculator/evaluate')
    .description('run a plugin and print its output as JSON; "run <plugin>" does the same');
  withConnection(execute, 'plugins')
    .option('--input <json>', 'inputs as a JSON object')
    .option('--input-file <path>', 'file with the inputs as a JSON object; - reads standard input')
    .option('--credentials <path>', 'file with the credentials of the bundle as a JSON object; - reads standard input')
    .option('--profile <name>', 'use this credential profile of the project')
    .option(
      '--out <path>',
      'write the picture, document or large text of the output, or else the output, to this file; - is standard output',
    )
    .option('--force', 'replace an existing file')
    .option('--background', 'start the run, print its id and do not wait')
    .action(async (plugin: string, options: ExecuteOptions) =>
      (await import('./execute-plugin.ts')).executePlugin(plugin, options),
    );
}

/** Prints the newest runs. */
async function listRuns({ runs }: Quartermaster, filters: Filters): Promise<void> {
  const { bundle, plugin, outcome, since, limit, json } = filters;
  const query = { bundle_id: bundle, plugin_id: plugin, outcome, since: readTime(since), limit: Number(limit) };
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
