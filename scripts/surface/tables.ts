import { fileURLToPath } from 'node:url';
import { errorCodes } from '@quartermaster/contract';
import type { Command } from 'commander';
import { createProgram } from '../../packages/cli/src/program.ts';
import { recordFailureCodes } from '../../packages/server/src/collections/records/record-failures.ts';
import { extractionFailureCodes, rowCodes } from '../../packages/server/src/extraction/extraction.ts';
import type { Setting } from '../../packages/server/src/settings/setting.ts';
import { settings } from '../../packages/server/src/settings/settings.ts';
import { describeFields, type Entries } from './entries.ts';

/** The folder of the installation, which differs between machines. */
const ownRoot = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns the error codes with their HTTP status, the codes of failed records, and the codes of rows of sheets with
 * their status.
 */
export function readErrors(): Entries {
  const records = Object.keys({ ...extractionFailureCodes, ...recordFailureCodes });
  return Object.fromEntries([
    ...Object.entries(errorCodes).map(([code, { status }]) => [`answer ${code}`, String(status)]),
    ...records.map((code) => [`record ${code}`, 'error']),
    ...Object.entries(rowCodes).map(([code, { status }]) => [`row ${code}`, status]),
  ]);
}

/** Returns each setting with its default as written in the environment, and its allowed values. */
export function readSettings(): Entries {
  return Object.fromEntries(
    Object.entries<Setting>(settings).map(([key, setting]) => [
      `QUARTERMASTER_${key}`,
      describeFields({
        default: setting.default ?? 'unset',
        secret: setting.secret,
        allowed: setting.check.allowed,
      }),
    ]),
  );
}

/** Returns each command, argument and flag of the command line. */
export function readCommands(): Entries {
  const entries: Entries = {};
  addCommand(createProgram(), '', entries);
  return entries;
}

function addCommand(command: Command, parent: string, entries: Entries): void {
  const name = `${parent} ${command.name()}`.trim();
  entries[name] = describeFields({ aliases: command.aliases().length > 0 ? command.aliases() : undefined });
  command.registeredArguments.forEach((argument, index) => {
    const { required, variadic, argChoices: choices, defaultValue } = argument;
    entries[`${name} ${index + 1} <${argument.name()}>`] = describeFields({
      required,
      variadic,
      choices,
      default: defaultValue === ownRoot ? 'the installation' : defaultValue,
    });
  });
  for (const option of command.options) {
    const { mandatory, variadic, argChoices: choices, defaultValue } = option;
    const isVersion = option.long === '--version';
    entries[`${name} ${option.flags}`] = isVersion
      ? ''
      : describeFields({ required: mandatory, variadic, choices, default: defaultValue });
  }
  for (const child of command.commands) addCommand(child, name, entries);
}
