import { readFile } from 'node:fs/promises';
import { withoutTrailingSlashes } from '@quartermaster/contract';
import { parseConfig, processEnvironment } from '@quartermaster/server';

/** @returns the plugins address of a running service, without a trailing slash; by default from the settings */
export function pluginsAddress(url: string | undefined): string {
  const base = url ?? addressInSettings();
  if (!URL.canParse(base)) throw new Error('--url must be an http or https URL.');
  const { protocol, username, password, search, hash } = new URL(base);
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== '') {
    throw new Error('--url must be an http or https URL without user, query and fragment.');
  }
  return withoutTrailingSlashes(base);
}

/** Reads an API key from a file, because all users of the machine can see a command line. */
export async function readKeyFile(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const key = (await readFile(file, 'utf8')).trim();
  // The error of the HTTP client would quote the key.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error(`--key-file: ${file} must hold one API key, alone on its line.`);
  return key;
}

function addressInSettings(): string {
  const { publicPluginsUrl, host, pluginsPort } = parseConfig(processEnvironment());
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return publicPluginsUrl ?? `http://${name}:${pluginsPort}`;
}
