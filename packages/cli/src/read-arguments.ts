import { InvalidArgumentError } from 'commander';
import { CommandError, exitCodes } from './exit-codes.ts';

/** Parses `a,b`. */
export function readList(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

/** Adds to the list of the same option before. */
export function readMore(text: string, before: readonly string[] = []): string[] {
  return [...before, ...readList(text)];
}

/** Whether a text names a package, not a file. */
export const isPackage = (text: string) => /^@[^/]+\/[^/]+$/.test(text);

/** Parses `a=b,c=d`. */
export function readPairs(text: string): Record<string, string> {
  const pairs = readList(text).map((pair) => pair.split('='));
  if (pairs.some((pair) => pair.length !== 2 || pair.includes('')))
    throw new InvalidArgumentError('The value must have the form a=b,c=d.');
  return Object.fromEntries(pairs);
}

/** @throws CommandError for a name that is not `bundle/plugin`, such as a misspelt subcommand */
export function checkPluginName(plugin: string, command: string): void {
  if (/^[^/]+\/[^/]+$/.test(plugin)) return;
  throw new CommandError(
    exitCodes.usage,
    `"${command} ${plugin}" names no plugin. Name its bundle and its id, such as calculator/evaluate.`,
  );
}

/** Parses a JSON object that a user wrote. The error does not quote it, because it may hold a secret. */
export function readObject(text: string, option: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const remedy = option === '--input' ? ' Use --input-file to read a file or standard input.' : '';
    throw new CommandError(exitCodes.invalidData, `${option} must be JSON.${remedy}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CommandError(exitCodes.invalidData, `${option} must be a JSON object.`);
  return value as Record<string, unknown>;
}
