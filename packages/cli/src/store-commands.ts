import { processEnvironment } from '@quartermaster/server/environment';
import { Command } from 'commander';
import { withAdministration } from './administration.ts';
import { type JsonOption, jsonOption, printJson, printTable, time } from './output/print.ts';
import { createProgressPrinter, createTablePrinter } from './output/print-progress.ts';

export function storeCommands(): readonly Command[] {
  return [nodesCommand(), checkCommand(), backupCommand(), restoreCommand(), moveCommand()];
}

function checkCommand(): Command {
  return new Command('fsck')
    .description('verify the database and stored content, find orphans and check per-project usage')
    .option('--hash', 'also read every file and compare its SHA-256', false)
    .option(
      '--repair',
      'restore good content from the quarantine, finish interrupted deletes, correct per-project usage, rebuild damaged search indexes, and mark damaged content so that a new upload replaces it',
      false,
    )
    .option(...jsonOption)
    .action(({ json, ...options }: JsonOption & { hash: boolean; repair: boolean }) =>
      withAdministration(async ({ checkStore }) => {
        const report = await checkStore(options);
        printJson(report, json === true ? undefined : 2);
        if (report.open > 0) process.exitCode = 1;
      }),
    );
}

function backupCommand(): Command {
  return new Command('backup')
    .description(
      'copy the store into a new folder, while the service runs or is stopped; content in object storage is listed and stays there',
    )
    .argument('<folder>', 'a folder that does not exist yet')
    .option('--include-key', 'also copy the encryption key of the data folder; protect the backup like the key', false)
    .option(...jsonOption)
    .action(async (folder: string, { json, includeKey }: JsonOption & { includeKey: boolean }) => {
      const onProgress = createProgressPrinter();
      const { backUpStore } = await import('@quartermaster/server/store-backup');
      const backup = await backUpStore(processEnvironment(), folder, { includeKey, onProgress });
      printJson(backup, json === true ? undefined : 2);
      if (backup.faults.length > 0) process.exitCode = 1;
    });
}

interface RestoreFlags {
  readonly damaged: boolean;
  readonly hash: boolean;
  readonly claim: boolean;
}

function restoreCommand(): Command {
  return new Command('restore')
    .description(
      'verify a backup and restore it into a new data folder, and into the empty PostgreSQL database of QUARTERMASTER_DATABASE_URL',
    )
    .argument('<backup>', 'a folder that "backup" created')
    .argument('<folder>', 'the new data folder; it must not exist yet')
    .option(
      '--damaged',
      'also restore a backup with missing or changed file content; the report lists the files',
      false,
    )
    .option('--claim', 'with content in object storage: let only the restored store use it from now on', false)
    .option('--hash', 'with content in object storage: also read every object and compare its SHA-256', false)
    .option(...jsonOption)
    .action(async (from: string, to: string, { json, ...options }: JsonOption & RestoreFlags) => {
      const onProgress = createProgressPrinter();
      const { restoreStore } = await import('@quartermaster/server/store-restore');
      const restored = await restoreStore(processEnvironment(), { from, to }, { ...options, onProgress });
      printJson(restored, json === true ? undefined : 2);
      if (restored.faults.length > 0) process.exitCode = 1;
    });
}

/** Milliseconds without a heartbeat after which other nodes take over the work of a node. */
const leaseMs = 15_000;

/** Lists the processes of the store. */
function nodesCommand(): Command {
  return new Command('nodes')
    .description('list the processes that serve the store, and those that ended within a day')
    .option(...jsonOption)
    .action(({ json }: JsonOption) =>
      withAdministration(async ({ nodes }) => {
        const found = (await nodes.list()).map((node) => {
          // With SQLite there are no heartbeats after the start.
          const hasHeartbeats = node.heartbeatAt > node.startedAt;
          const isSilent = hasHeartbeats && node.silentFor >= leaseMs;
          return {
            ...node,
            hasHeartbeats,
            state: node.stoppedAt !== null ? 'stopped' : isSilent ? 'silent' : 'running',
          };
        });
        if (json === true) {
          for (const { id, address, host, serves, state, version, capabilities, ...node } of found)
            printJson({
              node_id: id,
              address,
              host,
              serves,
              state,
              version,
              capabilities,
              heartbeat_age_ms: node.hasHeartbeats ? node.silentFor : null,
              started_timestamp: node.startedAt,
              stopped_timestamp: node.stoppedAt,
            });
          return;
        }
        printTable(
          ['ADDRESS', 'HOST', 'SERVES', 'STATE', 'HEARTBEAT', 'VERSION', 'STARTED', 'CAPABILITIES'],
          found.map(({ address, host, serves, state, hasHeartbeats, silentFor, version, startedAt, capabilities }) => [
            ...[address || '-', host, serves, state],
            hasHeartbeats ? `${Math.round(silentFor / 1000)} s ago` : '-',
            ...[version, time(startedAt)],
            Object.entries(capabilities)
              .map(([name, value]) => `${name}=${value}`)
              .join(' '),
          ]),
        );
      }),
    );
}

interface MoveFlags {
  readonly toFolder?: string;
  readonly toPostgres?: string | true;
  readonly toBlobs?: string | true;
  readonly damaged: boolean;
}

function moveCommand(): Command {
  return new Command('move')
    .description(
      'copy a stopped store to another database, another place for its content, or both, compare everything, and continue after an interruption',
    )
    .option('--to-folder <folder>', 'the new data folder (default: the data folder with "-moved")')
    .option(
      '--to-postgres [url]',
      'the empty PostgreSQL database; without a URL, that of QUARTERMASTER_DATABASE_URL (default: SQLite in the new folder)',
    )
    .option(
      '--to-blobs [url]',
      'the object storage, such as s3://bucket/prefix; without a URL, that of QUARTERMASTER_BLOBS (default: the new folder)',
    )
    .option('--damaged', 'also move a store with missing or changed file content; the report lists the files', false)
    .option(...jsonOption)
    .action(async ({ json, ...to }: JsonOption & MoveFlags) => {
      // Other users of the machine can read the arguments of a process, which may contain a password.
      process.title = 'quartermaster move';
      const { moveStore } = await import('@quartermaster/server/store-move');
      const moved = await moveStore(processEnvironment(), {
        folder: to.toFolder,
        postgres: to.toPostgres,
        blobs: to.toBlobs,
        damaged: to.damaged,
        onTable: createTablePrinter(),
        onProgress: createProgressPrinter(),
      });
      printJson(moved, json === true ? undefined : 2);
      if (moved.faults.length > 0) process.exitCode = 1;
    });
}
