import { Quartermaster } from '@quartermaster/client';
import { describePermissions } from '@quartermaster/contract/scopes';
import { processEnvironment } from '@quartermaster/server/environment';
import { checkKey, checkUrl, localAddresses, readKeyFile } from '../connection/connection.ts';
import { deleteLogin, loginFile, writeLogin } from '../connection/stored-login.ts';
import { printError, printJson, say } from '../output/print.ts';
import { readSecret } from './read-secret.ts';

export interface LoginOptions {
  readonly pluginsUrl?: string;
  readonly keyFile?: string;
  readonly json?: true;
}

/** Checks the address and the key, then stores both. The key is sent only after a Quartermaster service has answered. */
export async function logIn(given: string | undefined, options: LoginOptions): Promise<void> {
  const environment = processEnvironment();
  const url = given === undefined ? localAddresses(environment).filesUrl : checkUrl('The URL', given);
  const pluginsUrl = options.pluginsUrl === undefined ? undefined : checkUrl('--plugins-url', options.pluginsUrl);
  const { version } = await new Quartermaster({ baseUrl: url }).service.version();
  if (pluginsUrl !== undefined) await new Quartermaster({ baseUrl: url, pluginsUrl }).plugins.service.version();
  for (const one of [url, pluginsUrl ?? url]) if (isExposed(one)) printError(exposureWarning(one));
  const apiKey =
    options.keyFile === undefined
      ? checkKey(
          await readSecret(`API key for ${url}: `),
          'The API key must be one line without spaces. Copy the whole key, and nothing else.',
        )
      : await readKeyFile(options.keyFile);
  const { scopes, collections, tools } = await new Quartermaster({ baseUrl: url, apiKey }).keys.own();
  const file = await writeLogin(environment, { url, pluginsUrl, apiKey });
  if (options.json === true) {
    printJson({ url, plugins_url: pluginsUrl ?? null, version, scopes, collections, tools, file });
    return;
  }
  say(`Logged in to ${url} (Quartermaster ${version}). The key has these permissions:`);
  for (const sentence of describePermissions({ scopes, collections, tools })) say(`  ${sentence}`);
  if (scopes.includes('admin')) say(adminKey);
  say(`The address and the key are stored in ${file}.`);
}

export async function logOut({ json }: { json?: true }): Promise<void> {
  const environment = processEnvironment();
  const file = loginFile(environment);
  const deleted = await deleteLogin(environment);
  if (json === true) printJson({ file, deleted });
  else
    say(
      deleted
        ? `Deleted ${file}. The key remains valid: revoke it if you no longer need it.`
        : 'There is no stored login.',
    );
}

const adminKey =
  'With the scope admin, the key creates and revokes the keys of its project. For daily work, create a key with fewer scopes.';

/** Whether others on the network can read the key. */
export function isExposed(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

export function exposureWarning(url: string): string {
  return `Warning: ${url} is not encrypted, so the network can read the API key and all content. Use an https URL.`;
}
