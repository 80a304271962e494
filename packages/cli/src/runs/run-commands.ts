import { Command } from 'commander';
import { withConnection } from '../connection/connection-options.ts';
import type { ExecuteOptions } from './execute-plugin.ts';
import type { Filters, Output } from './run-actions.ts';

/** Runs plugins, and lists, shows, cancels and follows their runs over the API of a running service. */
export function runCommands(): Command {
  const run = new Command('run').description('run a plugin; list, show, cancel and follow runs');
  addExecute(run);
  withConnection(run.command('list').description('list runs, newest first'), 'plugins')
    .option('--bundle <id>', 'list only runs of this bundle')
    .option('--plugin <id>', 'list only runs of this plugin')
    .option('--outcome <name>', 'list only runs with this outcome; "none" lists runs that have not ended')
    .option('--since <time>', 'list only runs created at or after this time, such as 2026-11-21T08:00Z')
    .option('--limit <number>', 'list at most this many runs, up to 100', '20')
    .action(async (filters: Filters) => (await import('./run-actions.ts')).listRuns(filters));
  withConnection(run.command('show').description('print all details of a run as JSON'), 'plugins')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, options: Output) => (await import('./run-actions.ts')).showRun(runId, options));
  withConnection(run.command('cancel').description('cancel a waiting or running run'), 'plugins')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, options: Output) => (await import('./run-actions.ts')).cancelRun(runId, options));
  withConnection(
    run.command('watch').description('follow a run until it ends; exits with 1 unless it succeeded'),
    'plugins',
  )
    .argument('<run>', 'id of the run')
    .action(async (runId: string, options: Output) => (await import('./run-actions.ts')).watchRun(runId, options));
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
