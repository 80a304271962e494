import { readFileSync } from 'node:fs';
import { link, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { commandName } from '@quartermaster/contract/command-name';
import { exists } from '../../platform/disk/exists.ts';
import { syncToDisk } from '../../platform/disk/sync-to-disk.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { Secret } from '../../platform/secret.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import type { CredentialProfileRepository } from './credential-profile-repository.ts';
import {
  createEncrypter,
  createEncryptionKey,
  type Encrypter,
  type EncryptionKey,
  readEncryptionKey,
} from './encryption.ts';
import type { EncryptionKeyRepository } from './encryption-key-repository.ts';
import { checkEncryptionKeys } from './profile-maintenance.ts';

/** The key file in the data folder of a store in SQLite: one key per line, of which the first encrypts. */
export const encryptionKeyFile = 'encryption-key';

export interface EncryptionSettings extends EncryptionKeySettings {
  readonly dataFolder: string;
  /** True for SQLite. Only one process uses the store then, so the key may be in its folder. */
  readonly isDatabaseInFolder: boolean;
}

/**
 * Opens the keys of the settings, followed by those of the data folder.
 * @returns null when there are none
 */
export async function openStoreEncrypter(settings: EncryptionSettings): Promise<Encrypter | null> {
  const file = join(settings.dataFolder, encryptionKeyFile);
  const hasFile = settings.isDatabaseInFolder && (await exists(file));
  return openEncrypter(settings, hasFile ? file : null);
}

export interface EncryptionDeps {
  readonly profiles: CredentialProfileRepository;
  readonly store: EncryptionKeyRepository;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Opens the encryption of the store for a service. With SQLite a missing key is created. With PostgreSQL the settings
 * must contain it, because several processes share the database. Source: ADR 0068.
 * @throws OperatorError when stored credentials need a missing key, or another process has recorded another key
 */
export async function openEncryption(
  settings: EncryptionSettings,
  { profiles, store, logger }: EncryptionDeps,
): Promise<Encrypter | null> {
  const isUnused = (await profiles.countByKey()).size === 0;
  let encrypter = await openStoreEncrypter(settings);
  if (encrypter === null && settings.isDatabaseInFolder && isUnused) {
    await createKeyFile(settings.dataFolder);
    encrypter = await openStoreEncrypter(settings);
  }
  if (settings.isDatabaseInFolder) await warnOfOtherReaders(join(settings.dataFolder, encryptionKeyFile), logger);
  await checkEncryptionKeys(profiles, encrypter);
  if (encrypter === null) return null;
  const recorded = await store.recordEncryptionKey(encrypter.currentKeyId);
  if (encrypter.knows(recorded)) return encrypter;
  // The recorded key encrypts nothing, and no other process can have it.
  if (!settings.isDatabaseInFolder || !isUnused) throw otherEncryptionKey(recorded, encrypter.currentKeyId);
  await store.replaceEncryptionKey(encrypter.currentKeyId);
  return encrypter;
}

/** Warns because a copy or a restore may have changed the mode of the key file. */
async function warnOfOtherReaders(file: string, logger: EncryptionDeps['logger']): Promise<void> {
  if (!(await exists(file))) return;
  const mode = (await stat(file)).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  const fields = { file, mode: mode.toString(8).padStart(4, '0') };
  logger.warn(fields, 'encryption key accessible to other users: set its mode to 0600 (chmod 600)');
}

function otherEncryptionKey(recorded: string, configured: string): OperatorError {
  return new OperatorError(
    `The encryption key ${configured} of the settings is not the one of this store, ${recorded}. Set QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE to the key that the other processes have. To change the key, set both, the new one first, and run "${commandName} profile rotate". If the old key is lost, run "${commandName} profile forget --unreadable".`,
  );
}

/** Writes a new key completely or not at all, and never replaces another one. */
async function createKeyFile(folder: string): Promise<void> {
  const path = join(folder, encryptionKeyFile);
  const draft = `${path}.${process.pid}`;
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(
      `# Encrypts the stored credentials of this store. Keep a copy apart from its backups.\n${createEncryptionKey()}\n`,
    );
    await file.sync();
  } finally {
    await file.close();
  }
  // Another process may have created a key in the meantime. That key is used.
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  await syncToDisk(folder);
}

/** The keys of the setting `SEALING_KEY`. The first one encrypts. */
interface EncryptionKeySettings {
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
