import { purposeNames } from '@quartermaster/contract';
import { withAdministration } from '@quartermaster/server/administration';
import { Command, Option } from 'commander';

interface RestoreOptions {
  readonly project?: string;
  readonly name?: string;
  readonly purpose: (typeof purposeNames)[number];
}

/** Bytes that no row names, or that are not what their row says. */
export function quarantineCommands(): Command {
  const quarantine = new Command('quarantine').description('bytes in the data folder that no file has');
  quarantine
    .command('list')
    .description('list what is in the quarantine, one JSON object a line; reads all of it')
    .action(() =>
      withAdministration(async ({ quarantine }) => {
        for await (const { quarantinedAt, ...blob } of quarantine.list()) {
          console.log(JSON.stringify({ ...blob, quarantined: new Date(quarantinedAt).toISOString() }));
        }
      }),
    );
  quarantine
    .command('sweep')
    .description('move every blob that no row names into the quarantine, however many there are')
    .action(() =>
      withAdministration(async ({ quarantine }) => {
        const { quarantined } = await quarantine.sweep();
        console.log(`moved into the quarantine: ${quarantined}`);
      }),
    );
  quarantine.addCommand(restoreCommand());
  quarantine
    .command('purge')
    .description('erase blobs in the quarantine')
    .argument('<blob...>', 'their ids')
    .action((blobIds: string[]) =>
      withAdministration(async ({ quarantine }) => {
        for (const blobId of blobIds) {
          const isErased = await quarantine.purge(blobId);
          if (!isErased) process.exitCode = 1;
          console.log(isErased ? `erased ${blobId}` : `not in the quarantine: ${blobId}`);
        }
      }),
    );
  return quarantine;
}

function restoreCommand(): Command {
  return new Command('restore')
    .description('put bytes back where a restored database finds them, or create a file from them')
    .argument('<blob>', 'the id of the blob')
    .option('--project <id>', 'create the file in this project')
    .option('--name <name>', 'the name of the file, with its extension')
    .addOption(
      new Option('--purpose <purpose>', 'the purpose of the file').choices(purposeNames).default('record_file'),
    )
    .action((blobId: string, { project, name, purpose }: RestoreOptions) =>
      withAdministration(async ({ quarantine }) => {
        if (project === undefined) {
          if (name !== undefined) throw new Error('--name needs --project: the project that the file is created in.');
          await quarantine.restore(blobId);
          console.log(`restored ${blobId}`);
          return;
        }
        if (name === undefined) throw new Error('--project needs --name: the name of the file, with its extension.');
        const fileId = await quarantine.restoreAsFile(blobId, { projectId: project, name, purpose });
        console.log(`restored ${blobId} as the file ${fileId}`);
      }),
    );
}
