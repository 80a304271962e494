import { readFileSync } from 'node:fs';
import { commandName } from '@quartermaster/contract/command-name';
import type { Secret } from '../../platform/secret.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { createEncrypter, type Encrypter, type EncryptionKey, readEncryptionKey } from './encryption.ts';

/** The keys of the setting `SEALING_KEY`. The first one encrypts. */
export interface EncryptionKeySettings {
  readonly encryptionKeys: readonly Secret[];
}

/**
 * Opens the encrypter of the settings.
 * @param storeFile a further file with keys, that of the data folder; its keys follow those of the settings
 * @returns null when there is no key
 * @throws OperatorError that names the setting, or the file and the line, but never the key
 */
export function openEncrypter(
  { encryptionKeys }: EncryptionKeySettings,
  storeFile: string | null = null,
): Encrypter | null {
  const keys: EncryptionKey[] = [];
  if (encryptionKeys.length > 0) {
    keys.push(
      ...parseKeys(
        'QUARTERMASTER_SEALING_KEY',
        encryptionKeys.map((key) => key.reveal()),
      ),
    );
  }
  if (storeFile !== null) keys.push(...readKeyFile(storeFile, storeFile));
  const [current, ...others] = keys;
  return current === undefined ? null : createEncrypter(current, others);
}

function parseKeys(source: string, texts: readonly string[]): EncryptionKey[] {
  return texts.map((text, index) => {
    const key = readEncryptionKey(text);
    if (key !== null) return key;
    const number = index + 1;
    throw new OperatorError(
      `${source}: key number ${number} must be the base64 encoding of 32 bytes. Run "${commandName} profile new-key" to create one.`,
    );
  });
}

/** Reads one key per line. Empty lines and lines that begin with `#` are ignored. */
function readKeyFile(source: string, path: string): EncryptionKey[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new OperatorError(`${source}: the file cannot be read (${code}).`);
  }
  const lines = text.split('\n').map((line) => line.trim());
  const texts = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (texts.length === 0) throw new OperatorError(`${source}: the file contains no key.`);
  return parseKeys(source, texts);
}
