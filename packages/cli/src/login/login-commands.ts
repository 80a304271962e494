import { Command } from 'commander';
import type { LoginOptions } from './log-in.ts';

/** Stores the address of a service and an API key for all later commands. */
export function loginCommands(): readonly Command[] {
  return [
    new Command('login')
      .argument('[url]', 'files address of the service (default: from the settings)')
      .description('check the address and the API key of a service and store both for later commands')
      .option('--plugins-url <url>', 'plugins address (default: the files address, which also serves plugins)')
      .option('--key-file <path>', 'file with the API key (default: ask for it, or read standard input)')
      .option('--json', 'print JSON')
      .action(async (url: string | undefined, options: LoginOptions) =>
        (await import('./log-in.ts')).logIn(url, options),
      ),
    new Command('logout')
      .description('delete the stored address and API key')
      .option('--json', 'print JSON')
      .action(async (options: { json?: true }) => (await import('./log-in.ts')).logOut(options)),
  ];
}
