import { Command } from 'commander';
import { withAdministration } from './administration.ts';
import { type JsonOption, jsonOption, printResult, say } from './output/print.ts';

/** Creates setup links for the console administrator. The link is printed on its own line, for scripts. */
export function administratorCommands(): Command {
  const administrator = new Command('administrator').description('manage the console administrator');
  administrator
    .command('link')
    .option('--reset', 'remove the current administrator and end all sessions (for a forgotten password)', false)
    .description('create a one-time setup link, valid for one hour; it replaces an earlier link')
    .option(...jsonOption)
    .action((options: JsonOption & { reset: boolean }) =>
      withAdministration(async ({ createSetUpLink }) => {
        const link = await createSetUpLink(options);
        if (link === undefined)
          throw new Error('The console already has an administrator. Use --reset to remove it and create a new link.');
        const url = link.link.reveal();
        printResult(options, { link: url }, () => say(url));
      }),
    );
  return administrator;
}
