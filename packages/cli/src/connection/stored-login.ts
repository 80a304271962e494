import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { commandName } from '@quartermaster/contract/command-name';
import type { Environment } from '@quartermaster/server/environment';
import { CommandError, exitCodes } from '../exit-codes.ts';

/** The service that commands use when neither an option nor the environment names one. */
export interface Login {
  /** The files address. */
  readonly url: string;
  /** undefined: the files address also serves plugins. */
  readonly pluginsUrl: string | undefined;
  readonly apiKey: string;
}

/** Returns the path of the file that holds the login of this user. */
export function loginFile(environment: Environment): string {
  const { XDG_CONFIG_HOME: folder = '', HOME: home = '' } = environment;
  // The XDG specification ignores relative paths.
  const base = isAbsolute(folder) ? folder : join(home === '' ? homedir() : home, '.config');
  return join(base, 'quartermaster', 'login.json');
}

/**
 * Reads the stored login.
 * @returns undefined when there is none
 * @throws CommandError when another user could have read or written it, or when its content is malformed
 */
export async function readLogin(environment: Environment): Promise<Login | undefined> {
  const file = loginFile(environment);
  const text = await readPrivateFile(file);
  if (text === undefined) return undefined;
  const login = parseLogin(text);
  if (login !== undefined) return login;
  throw new CommandError(exitCodes.notConfigured, `${file} does not hold a login. Run "${commandName} login" again.`);
}

/** Stores the login in a file that only this user may read. It replaces a file or a link in its place. */
export async function writeLogin(environment: Environment, { url, pluginsUrl, apiKey }: Login): Promise<string> {
  const file = loginFile(environment);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  const content = JSON.stringify({ url, plugins_url: pluginsUrl, api_key: apiKey }, null, 2);
  try {
    await writeFile(temporary, `${content}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return file;
}

/** @returns false when there was none */
export async function deleteLogin(environment: Environment): Promise<boolean> {
  try {
    await rm(loginFile(environment));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false; // an error of the system
    throw error;
  }
}

const mostBytes = 65_536;
const accessOfOthers = 0o077;

/** Checks the open file, because the one at its path may change. */
async function readPrivateFile(file: string): Promise<string | undefined> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const { mode, uid, size } = await handle.stat();
    const user = process.getuid?.();
    if (user !== undefined && uid !== user && user !== 0)
      throw new CommandError(
        exitCodes.notConfigured,
        `${file} belongs to another user. Delete it, then run "${commandName} login" again.`,
      );
    if ((mode & accessOfOthers) !== 0)
      throw new CommandError(
        exitCodes.notConfigured,
        `Other users can access ${file}, which holds an API key. Run "chmod 600 ${file}"; if others may have read the key, replace it.`,
      );
    return size > mostBytes ? '' : await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function parseLogin(text: string): Login | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { url, plugins_url: pluginsUrl, api_key: apiKey } = value as Record<string, unknown>;
  if (typeof url !== 'string' || typeof apiKey !== 'string') return undefined;
  if (pluginsUrl !== undefined && typeof pluginsUrl !== 'string') return undefined;
  return { url, pluginsUrl, apiKey };
}
