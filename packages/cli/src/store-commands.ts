import { withAdministration } from '@quartermaster/server/administration';
import { Command } from 'commander';

export function storeCommands(): Command {
  return new Command('fsck')
    .description('check that every file has its bytes and that no bytes are without a file; changes nothing')
    .option('--hash', 'also read every file and compare its SHA-256', false)
    .action((options: { hash: boolean }) =>
      withAdministration(async ({ checkStore }) => {
        const report = await checkStore(options);
        console.log(JSON.stringify(report, null, 2));
        if (report.faults.length > 0) process.exitCode = 1;
      }),
    );
}
