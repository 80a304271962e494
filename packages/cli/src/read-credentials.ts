import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/** Reads credentials by name from a file or (`-`) standard input, because all users can see a command line. */
export async function readCredentials(file: string | undefined): Promise<Record<string, string>> {
  if (file === undefined) return {};
  const source = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    // The message of the parser would quote the text.
    throw new Error('The credentials must be JSON.');
  }
  if (isTexts(value)) return value;
  throw new Error('The credentials must be a JSON object of strings.');
}

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member === 'string');
}
