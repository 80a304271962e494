import { purposeNames } from '@quartermaster/contract/formats';
import { Command, Option } from 'commander';
import { withAdministration } from './administration.ts';
import { type JsonOption, jsonOption, printResult } from './output/print.ts';

interface RestoreOptions extends JsonOption {
  readonly project?: string;
  readonly name?: string;
  readonly purpose: (typeof purposeNames)[number];
}

/** Manages quarantined blobs: content that no file uses, or that differs from its file's hash. */
export function quarantineCommands(): Command {
  const quarantine = new Command('quarantine').description('manage stored content that no file uses');
  quarantine
    .command('list')
    .description('list quarantined blobs, one JSON object per line; reads each blob')
    .option(...jsonOption)
    .action(() =>
      withAdministration(async ({ quarantine }) => {
        for await (const { quarantinedAt, ...blob } of quarantine.list()) {
          console.log(JSON.stringify({ ...blob, quarantined: new Date(quarantinedAt).toISOString() }));
        }
      }),
    );
  quarantine
    .command('sweep')
    .description('move all blobs that no file uses into the quarantine, without a limit')
    .option(...jsonOption)
    .action((options: JsonOption) =>
      withAdministration(async ({ quarantine }) => {
        const { quarantined } = await quarantine.sweep();
        printResult(options, { quarantined }, () => console.log(`moved into the quarantine: ${quarantined}`));
      }),
    );
  quarantine.addCommand(restoreCommand());
  quarantine
    .command('purge')
    .description('erase blobs from the quarantine')
    .argument('<blob...>', 'ids of the blobs')
    .option(...jsonOption)
    .action((blobIds: string[], options: JsonOption) =>
      withAdministration(async ({ quarantine }) => {
        for (const blobId of blobIds) {
          const isErased = await quarantine.purge(blobId);
          if (!isErased) process.exitCode = 1;
          printResult(options, { blob_id: blobId, erased: isErased }, () =>
            console.log(isErased ? `erased ${blobId}` : `not in the quarantine: ${blobId}`),
          );
        }
      }),
    );
  return quarantine;
}

function restoreCommand(): Command {
  return new Command('restore')
    .description('move a blob back into the store, or create a file from it')
    .argument('<blob>', 'id of the blob')
    .option('--project <id>', 'create the file in the project with this id or name')
    .option('--name <name>', 'name of the file, with its extension')
    .addOption(new Option('--purpose <purpose>', 'purpose of the file').choices(purposeNames).default('record_file'))
    .option(...jsonOption)
    .action((blobId: string, { project, name, purpose, ...options }: RestoreOptions) =>
      withAdministration(async ({ quarantine, findProjectId }) => {
        if (project === undefined) {
          if (name !== undefined)
            throw new Error('--name requires --project. Name the project that the file is created in.');
          await quarantine.restore(blobId);
          printResult(options, { blob_id: blobId }, () => console.log(`restored ${blobId}`));
          return;
        }
        if (name === undefined)
          throw new Error('--project requires --name. Give the name of the file with its extension.');
        const projectId = await findProjectId(project);
        const fileId = await quarantine.restoreAsFile(blobId, { projectId, name, purpose });
        printResult(options, { blob_id: blobId, file_id: fileId }, () =>
          console.log(`restored ${blobId} as the file ${fileId}`),
        );
      }),
    );
}
