import { withAdministration } from '@quartermaster/server/administration';
import { Command } from 'commander';

export function storeCommands(): Command {
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
