import { commandName } from '@quartermaster/contract/command-name';
import { Command } from 'commander';
import { administratorCommands } from './administrator-commands.ts';
import { artifactsCommands } from './artifacts/artifacts-commands.ts';
import { auditCommand } from './audit-command.ts';
import { bundleCommands } from './bundle-commands.ts';
import { collectionsCommands } from './collections/collections-commands.ts';
import { completionCommand } from './completion/completion-command.ts';
import { connectionsCommands, profileCommands } from './credential-commands.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { embeddingCommands } from './embedding-commands.ts';
import { filesCommands } from './files/files-commands.ts';
import { keyCommands } from './key-commands.ts';
import { loginCommands } from './login/login-commands.ts';
import { mcpCommand } from './mcp-command.ts';
import { pluginsCommands } from './plugins/plugins-commands.ts';
import { projectCommands } from './project-commands.ts';
import { quarantineCommands } from './quarantine-commands.ts';
import { recordsCommands } from './records/records-commands.ts';
import { runCommands } from './runs/run-commands.ts';
import { evaluateCommand, searchCommand } from './search/search-command.ts';
import { storeCommands } from './store-commands.ts';
import { describeUsageErrors } from './usage-errors.ts';
import { usePathsOfUser } from './user-folder.ts';
import { verificationCommands } from './verification-commands.ts';
import { verifyCommand } from './verify-command.ts';
import { version } from './version.ts';

/** Creates all commands. Each loads its implementation in its action, because the server takes a second to load. They read the same `QUARTERMASTER_…` settings as the service. */
export function createProgram(): Command {
  const program = new Command('quartermaster')
    .description('manage a self-hosted Quartermaster service, its store and its bundles')
    .version(version)
    .addHelpText(
      'after',
      `
Examples:
  ${commandName} login http://127.0.0.1:8080
  ${commandName} search COLLECTION 'When does the library open?'
  QUARTERMASTER_DATA=/var/lib/quartermaster ${commandName} key list

Commands for the store use the folder in QUARTERMASTER_DATA (default: ./data). The guides are at /docs of a running service, and in docs/guides.`,
    );
  program
    .command('start')
    .description('run the service')
    .action(async () => {
      const { runUntilSignal } = await import('@quartermaster/server');
      await runUntilSignal();
    });
  for (const command of loginCommands()) program.addCommand(command);
  program.addCommand(filesCommands());
  program.addCommand(collectionsCommands());
  program.addCommand(recordsCommands());
  program.addCommand(searchCommand());
  program.addCommand(evaluateCommand());
  program.addCommand(pluginsCommands());
  program.addCommand(runCommands());
  program.addCommand(artifactsCommands());
  program.addCommand(connectionsCommands());
  program.addCommand(doctorCommand());
  program.addCommand(projectCommands());
  program.addCommand(keyCommands());
  program.addCommand(profileCommands());
  program.addCommand(administratorCommands());
  program.addCommand(auditCommand());
  for (const command of storeCommands()) program.addCommand(command);
  program.addCommand(quarantineCommands());
  program.addCommand(verificationCommands());
  program.addCommand(verifyCommand());
  program.addCommand(embeddingCommands());
  program.addCommand(bundleCommands());
  program.addCommand(mcpCommand());
  program.addCommand(completionCommand(program));
  program.addCommand(helpCommand(program));
  describeUsageErrors(program);
  usePathsOfUser(program);
  return program;
}

/** Replaces the command of commander, which shows the general help for an unknown name. */
function helpCommand(program: Command): Command {
  return new Command('help')
    .description('show the help of a command')
    .argument('[command...]', 'names of a command, such as files list')
    .action(async (names: readonly string[]) => {
      let command = program;
      for (const name of names) {
        const child = command.commands.find((one) => one.name() === name);
        // Parsing would run a command without subcommands.
        if (command.commands.length === 0) break;
        // Fails with the error of an unknown command and a similar name.
        if (child === undefined) await command.parseAsync([name], { from: 'user' });
        else command = child;
      }
      command.help();
    });
}
