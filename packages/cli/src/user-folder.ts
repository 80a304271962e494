import { resolve } from 'node:path';
import { commandName } from '@quartermaster/contract/command-name';
import { type Environment, processEnvironment } from '@quartermaster/server/environment';
import type { Command } from 'commander';
import { isPackage } from './read-arguments.ts';

/** Commands that read no setting of the service that is a path. */
const clientCommands: ReadonlySet<string> = new Set([
  ...['login', 'files', 'collections', 'records', 'search', 'plugins', 'run', 'mcp'],
]);

/**
 * Makes paths on the command line relative to the folder of the user. In a clone, npm runs the command in the folder of the clone
 * and names the folder of the user in `INIT_CWD`. Paths in settings stay relative to the clone, like those of `npm start`.
 */
export function usePathsOfUser(program: Command, environment: Environment = processEnvironment()): void {
  const { INIT_CWD: folder = '', npm_lifecycle_event: script } = environment;
  if (folder === '' || script !== 'quartermaster' || commandName === 'quartermaster') return;
  program.hook('preAction', (_program, command) => {
    if (clientCommands.has(groupOf(command, program))) process.chdir(folder);
    else resolvePaths(command, folder);
  });
}

/** Returns the first word after `quartermaster`. */
function groupOf(command: Command, program: Command): string {
  let group = command;
  while (group.parent !== null && group.parent !== program) group = group.parent;
  return group.name();
}

function resolvePaths(command: Command, folder: string): void {
  for (const [index, argument] of command.registeredArguments.entries()) {
    const value: unknown = command.processedArgs[index];
    const isName = typeof value === 'string' && (isPackage(value) || /^https?:\/\//.test(value));
    if (!isName && /^(?:source|backup|file|folders?)$/.test(argument.name()))
      command.processedArgs[index] = toAbsolute(value, folder);
  }
  for (const option of command.options) {
    const name = option.attributeName();
    if (/<(?:path|file|folder)>/.test(option.flags)) {
      command.setOptionValue(name, toAbsolute(command.getOptionValue(name), folder));
    }
  }
}

/** Resolves a path or a list of paths. `-` is standard input or output. */
function toAbsolute(value: unknown, folder: string): unknown {
  if (Array.isArray(value)) return value.map((one) => toAbsolute(one, folder));
  return typeof value === 'string' && value !== '-' ? resolve(folder, value) : value;
}
