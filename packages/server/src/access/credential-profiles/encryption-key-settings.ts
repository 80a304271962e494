import { readFileSync } from 'node:fs';
import type { Secret } from '../../kernel/secret.ts';
import { createEncrypter, type Encrypter, type EncryptionKey, readEncryptionKey } from './encryption.ts';

/** Where the operator keeps the keys: in the environment or in a file, the one to seal with first. */
export interface EncryptionKeySettings {
  readonly sealingKeys: readonly Secret[];
  readonly sealingKeyFile: string | null;
}

/**
 * The encrypter of the settings.
 * @param storeFile a further file with keys, that of the data folder; they come after those of the settings
 * @returns null when there is no key
 * @throws Error that names the setting or the file and the line, never the key
 */
export function openEncrypter(
  { sealingKeys, sealingKeyFile }: EncryptionKeySettings,
  storeFile: string | null = null,
): Encrypter | null {
  if (sealingKeyFile !== null && sealingKeys.length > 0) {
    throw new Error('QUARTERMASTER_SEALING_KEY and QUARTERMASTER_SEALING_KEY_FILE are both set; keep one of them.');
  }
  const keys: EncryptionKey[] = [];
  if (sealingKeys.length > 0) {
    keys.push(
      ...parseKeys(
        'QUARTERMASTER_SEALING_KEY',
        sealingKeys.map((key) => key.reveal()),
      ),
    );
  }
  if (sealingKeyFile !== null) keys.push(...readKeyFile('QUARTERMASTER_SEALING_KEY_FILE', sealingKeyFile));
  if (storeFile !== null) keys.push(...readKeyFile(storeFile, storeFile));
  const [current, ...others] = keys;
  return current === undefined ? null : createEncrypter(current, others);
}

function parseKeys(source: string, texts: readonly string[]): EncryptionKey[] {
  return texts.map((text, index) => {
    const key = readEncryptionKey(text);
    if (key !== null) return key;
    throw new Error(
      `${source}: key ${index + 1} is not the base64 of 32 bytes; "npm run quartermaster -- profile new-key" prints one.`,
    );
  });
}

/** One key a line; empty lines and those that begin with `#` are left out. */
function readKeyFile(source: string, path: string): EncryptionKey[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Error(`${source}: the file cannot be read (${code}).`);
  }
  const lines = text.split('\n').map((line) => line.trim());
  const texts = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (texts.length === 0) throw new Error(`${source}: the file holds no key.`);
  return parseKeys(source, texts);
}
