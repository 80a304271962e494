import { withAdministration } from '@quartermaster/server/administration';
import { Command } from 'commander';

/** The administrator of the console. The link is shown alone on its line. */
export function administratorCommands(): Command {
  const administrator = new Command('administrator').description('the administrator of the console');
  administrator
    .command('link')
    .option('--reset', 'remove the administrator there is, and end every session: for a forgotten password', false)
    .description('make a link that sets up the console, for one use within an hour; the one before is void')
    .action((options: { reset: boolean }) =>
      withAdministration(async ({ makeSetUpLink }) => {
        const made = await makeSetUpLink(options);
        if (made === undefined) throw new Error('there is an administrator; --reset removes it and makes a link');
        console.log(made.link.reveal());
      }),
    );
  return administrator;
}
