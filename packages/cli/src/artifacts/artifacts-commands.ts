import { Command } from 'commander';
import { withConnection } from '../connection/connection-options.ts';
import type { DownloadOptions } from '../files/download-file.ts';
import type { Output } from '../files/files-actions.ts';

/** Downloads and deletes the media and large outputs of runs. */
export function artifactsCommands(): Command {
  const artifacts = new Command('artifacts').description('download and delete stored outputs of plugins');
  withConnection(artifacts.command('get').description('print an artifact'), 'plugins')
    .argument('<artifact>', 'id of the artifact')
    .action(async (id: string, options: Output) => (await import('./artifacts-actions.ts')).getArtifact(id, options));
  withConnection(
    artifacts.command('download').description('download an artifact and compare it with its SHA-256'),
    'plugins',
  )
    .argument('<artifact>', 'id of the artifact')
    .option(
      '--out <path>',
      'file to write; - writes to standard output (default: the name of the artifact, in this folder)',
    )
    .option('--force', 'replace an existing file')
    .action(async (id: string, options: DownloadOptions) =>
      (await import('../files/download-file.ts')).downloadArtifact(id, options),
    );
  withConnection(artifacts.command('delete').description('delete artifacts before they expire'), 'plugins')
    .argument('<artifacts...>', 'ids of the artifacts')
    .action(async (ids: string[], options: Output) =>
      (await import('./artifacts-actions.ts')).deleteArtifacts(ids, options),
    );
  return artifacts;
}
