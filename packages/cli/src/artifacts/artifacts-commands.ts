import { Command } from 'commander';
import { callService, type ServiceOptions, withConnection } from '../connection/service-command.ts';
import { deleteEach } from '../each-item.ts';
import type { DownloadOptions } from '../files/download-file.ts';
import { printItem } from '../output/print-items.ts';

/** Downloads and deletes the media and large outputs of runs. */
export function artifactsCommands(): Command {
  const artifacts = new Command('artifacts').description('download and delete stored outputs of plugins');
  const on = (name: string, description: string) =>
    withConnection(artifacts.command(name).description(description), 'plugins');
  on('get', 'print an artifact')
    .argument('<artifact>', 'id of the artifact')
    .action(
      callService('plugins', async (qm, id: string, { json }: ServiceOptions) =>
        printItem(await qm.artifacts.get(id), json),
      ),
    );
  on('download', 'download an artifact and compare it with its SHA-256')
    .argument('<artifact>', 'id of the artifact')
    .option(
      '--out <path>',
      'file to write; - writes to standard output (default: the name of the artifact, in this folder)',
    )
    .option('--force', 'replace an existing file')
    .action(async (id: string, options: DownloadOptions) =>
      (await import('../files/download-file.ts')).downloadArtifact(id, options),
    );
  on('delete', 'delete artifacts before they expire')
    .argument('<artifacts...>', 'ids of the artifacts')
    .action(
      callService('plugins', async (qm, ids: string[], { json }: ServiceOptions) =>
        deleteEach(ids, { member: 'artifact_id', json }, (id) => qm.artifacts.delete(id)),
      ),
    );
  return artifacts;
}
