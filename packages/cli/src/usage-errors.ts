import { commandName } from '@quartermaster/contract/command-name';
import type { Command, CommanderError } from 'commander';
import { CommandError, exitCodes } from './exit-codes.ts';

const mostCharacters = 60;

/**
 * Replaces the sentences and the exit code of commander for wrong command lines. The errors are thrown, so that they are printed
 * like all others, also as JSON.
 */
export function describeUsageErrors(command: Command, path = ''): void {
  command.configureOutput({ outputError: () => {} });
  command.exitOverride((error) => {
    if (error.exitCode === 0) process.exit(0);
    // A group without a command has printed its help.
    if (error.code === 'commander.help') process.exit(exitCodes.usage);
    throw new CommandError(exitCodes.usage, describe(error, command, path));
  });
  for (const child of command.commands) describeUsageErrors(child, `${path} ${child.name()}`);
}

/** The texts between single quotes in a message of commander, for example the option and its value. */
function quoted(message: string): readonly string[] {
  return [...message.matchAll(/'([^'\n]*)'/g)].map(([, text = '']) => cut(text));
}

function cut(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}

function describe({ code, message }: CommanderError, command: Command, path: string): string {
  const [first = '', second = ''] = quoted(message);
  const help = `Run "${commandName}${path} --help" to see`;
  const alternatives = alternativesOf(message);
  const suggestion = alternatives === undefined ? '' : `Did you mean ${alternatives}? `;
  switch (code) {
    case 'commander.unknownCommand':
      return `Unknown command "${first}". ${suggestion}${help} the commands.`;
    case 'commander.unknownOption':
      return `Unknown option "${first}". ${suggestion}${help} the options.`;
    case 'commander.missingArgument':
      return `The argument <${first}> is missing. ${help} the arguments.`;
    case 'commander.missingMandatoryOptionValue':
      return `The option ${first} is required. ${help} the options.`;
    case 'commander.optionMissingArgument':
      return `The option ${first} needs a value. ${help} the options.`;
    case 'commander.excessArguments':
      return `The command takes ${count(command.registeredArguments.length)}; received ${command.args.length}. Quote an argument that contains spaces. ${help} the arguments.`;
    case 'commander.invalidArgument':
      return describeInvalid(message, first, second, help);
    default:
      return message.replace(/^error: /, '');
  }
}

/** The names that commander proposes at the end of a message: "(Did you mean x?)" or "(Did you mean one of x, y?)". */
function alternativesOf(message: string): string | undefined {
  const start = message.lastIndexOf('(Did you mean ');
  if (start === -1 || !message.endsWith('?)')) return undefined;
  return message.slice(start + '(Did you mean '.length, -'?)'.length).replace(/^one of /, '');
}

/** "option '--limit <number>' argument 'x' is invalid. …" or "command-argument value 'x' is invalid for argument 'shell'. …" */
function describeInvalid(message: string, first: string, second: string, help: string): string {
  const isOption = message.startsWith('error: option');
  const [name, value] = isOption ? [first, second] : [`<${second}>`, first];
  const reason = /' is invalid(?: for argument '[^']*')?\. ([\s\S]+)$/.exec(message)?.[1] ?? `${help} the values.`;
  return `${name} cannot be "${value}". ${reason.replace('Allowed choices are ', 'Allowed: ')}`;
}

function count(most: number): string {
  if (most === 0) return 'no arguments';
  return most === 1 ? '1 argument' : `${most} arguments`;
}
