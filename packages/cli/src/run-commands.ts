import { Command } from 'commander';
import type { Filters, Where } from './run-actions.ts';

/** Lists, shows, cancels and follows the runs of plugins over the API of a running service. */
export function runCommands(): Command {
  const run = new Command('run').description('list, show, cancel and follow plugin runs of a running service');
  withPlace(run.command('list').description('list runs, newest first'))
    .option('--bundle <id>', 'list only runs of this bundle')
    .option('--plugin <id>', 'list only runs of this plugin')
    .option('--outcome <name>', 'list only runs with this outcome; "none" lists runs that have not ended')
    .option('--since <time>', 'list only runs created at or after this time, such as 2026-11-21T08:00Z')
    .option('--limit <number>', 'list at most this many runs, up to 100', '20')
    .option('--json', 'print one JSON object per line')
    .action(async (filters: Filters) => (await import('./run-actions.ts')).listRuns(filters));
  withPlace(
    run.command('show').description('print all details of a run as JSON').argument('<run>', 'id of the run'),
  ).action(async (runId: string, where: Where) => (await import('./run-actions.ts')).showRun(runId, where));
  withPlace(
    run.command('cancel').description('cancel a waiting or running run').argument('<run>', 'id of the run'),
  ).action(async (runId: string, where: Where) => (await import('./run-actions.ts')).cancelRun(runId, where));
  withPlace(
    run
      .command('watch')
      .description('follow a run until it ends; exits with 1 unless it succeeded')
      .argument('<run>', 'id of the run'),
  ).action(async (runId: string, where: Where) => (await import('./run-actions.ts')).watchRun(runId, where));
  return run;
}

function withPlace(command: Command): Command {
  return command
    .option('--url <url>', 'plugins address of the service (default: from the settings)')
    .option('--key-file <path>', 'file with an API key');
}
