import { processEnvironment } from '@quartermaster/server';
import { withAdministration } from '@quartermaster/server/administration';
import { backUpStore } from '@quartermaster/server/store-backup';
import { Command } from 'commander';

export function storeCommands(): readonly Command[] {
  return [checkCommand(), backupCommand()];
}

function checkCommand(): Command {
  return new Command('fsck')
    .description('check that every file has its bytes, that no bytes are without a file, and what projects use')
    .option('--hash', 'also read every file and compare its SHA-256', false)
    .option('--repair', 'correct what projects are said to use; nothing else is ever changed', false)
    .action((options: { hash: boolean; repair: boolean }) =>
      withAdministration(async ({ checkStore }) => {
        const report = await checkStore(options);
        console.log(JSON.stringify(report, null, 2));
        if (report.faults.length > report.mended.length) process.exitCode = 1;
      }),
    );
}

function backupCommand(): Command {
  return new Command('backup')
    .description('copy the store into a new folder, also while the service runs; the folder can be started from')
    .argument('<folder>', 'a folder that does not exist yet')
    .action(async (folder: string) => {
      const backup = await backUpStore(processEnvironment(), folder);
      console.log(JSON.stringify(backup, null, 2));
      if (backup.faults.length > 0) process.exitCode = 1;
    });
}
