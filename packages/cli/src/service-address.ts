import { readFile } from 'node:fs/promises';
import { parseConfig, processEnvironment } from '@quartermaster/server';

/** The plugins address of a running service, without a slash at its end; by default the one of the settings. */
export function pluginsAddress(url: string | undefined): string {
  const base = url ?? addressInSettings();
  if (!URL.canParse(base)) throw new Error(`--url: ${JSON.stringify(base)} is not a URL`);
  return base.replace(/\/+$/, '');
}

/** A key comes from a file: a command line is seen by every user of the machine. */
export async function readKeyFile(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : (await readFile(file, 'utf8')).trim();
}

function addressInSettings(): string {
  const { publicPluginsUrl, host, pluginsPort } = parseConfig(processEnvironment());
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return publicPluginsUrl ?? `http://${name}:${pluginsPort}`;
}
