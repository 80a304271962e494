import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/** Credentials by name, from a file or (`-`) standard input: never from the command line, which all users can read. */
export async function readCredentials(file: string | undefined): Promise<Record<string, string>> {
  if (file === undefined) return {};
  const source = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    // Without the parser's words, which quote what was found.
    throw new Error('The credentials must be JSON.');
  }
  if (isTexts(value)) return value;
  throw new Error('The credentials must be a JSON object of strings.');
}

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member === 'string');
}
