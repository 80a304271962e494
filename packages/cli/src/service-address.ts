import { readFile } from 'node:fs/promises';
import { withoutTrailingSlashes } from '@quartermaster/contract';
import { parseConfig, processEnvironment } from '@quartermaster/server';

/** The plugins address of a running service, without a slash at its end; by default the one of the settings. */
export function pluginsAddress(url: string | undefined): string {
  const base = url ?? addressInSettings();
  if (!URL.canParse(base)) throw new Error('--url: expected a URL');
  const { protocol, username, password, search, hash } = new URL(base);
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== '') {
    throw new Error('--url: expected an http or https URL, without a user, a query or a fragment');
  }
  return withoutTrailingSlashes(base);
}

/** A key comes from a file: a command line is seen by every user of the machine. */
export async function readKeyFile(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const key = (await readFile(file, 'utf8')).trim();
  // Said here: whoever puts it into a header would repeat it.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error(`--key-file: ${file} holds no key, alone on its line`);
  return key;
}

function addressInSettings(): string {
  const { publicPluginsUrl, host, pluginsPort } = parseConfig(processEnvironment());
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return publicPluginsUrl ?? `http://${name}:${pluginsPort}`;
}
