import { readFileSync } from 'node:fs';
import type { Secret } from '../kernel/secret.ts';
import { createSealer, readSealingKey, type Sealer } from './sealing.ts';

/** Where the operator keeps the keys: in the environment or in a file, the one to seal with first. */
export interface SealingSettings {
  readonly sealingKeys: readonly Secret[];
  readonly sealingKeyFile: string | null;
}

/**
 * The sealer of the settings; null when they name no key.
 * @throws Error that names the setting and the line, never the key
 */
export function openSealer({ sealingKeys, sealingKeyFile }: SealingSettings): Sealer | null {
  if (sealingKeyFile !== null && sealingKeys.length > 0) {
    throw new Error('QUARTERMASTER_SEALING_KEY and QUARTERMASTER_SEALING_KEY_FILE are both set; keep one of them.');
  }
  const texts = sealingKeyFile === null ? sealingKeys.map((key) => key.reveal()) : readKeyFile(sealingKeyFile);
  const keys = texts.map((text, index) => {
    const key = readSealingKey(text);
    if (key !== null) return key;
    const setting = sealingKeyFile === null ? 'QUARTERMASTER_SEALING_KEY' : 'QUARTERMASTER_SEALING_KEY_FILE';
    throw new Error(
      `${setting}: key ${index + 1} is not the base64 of 32 bytes; "quartermaster profile new-key" makes one.`,
    );
  });
  const [current, ...others] = keys;
  if (current !== undefined) return createSealer(current, others);
  if (sealingKeyFile !== null) throw new Error(`QUARTERMASTER_SEALING_KEY_FILE: the file holds no key.`);
  return null;
}

/** One key a line; empty lines and those that begin with `#` are left out. */
function readKeyFile(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Error(`QUARTERMASTER_SEALING_KEY_FILE: the file cannot be read (${code}).`);
  }
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
