import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Reads a secret from a file, without surrounding white space. Returns null when the file cannot be read. */
export function readSecret(path: string): string | null {
  try {
    return readFileSync(resolve(path), 'utf8').trim();
  } catch {
    return null;
  }
}
