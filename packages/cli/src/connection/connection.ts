import { readFile } from 'node:fs/promises';
import { Quartermaster } from '@quartermaster/client';
import { commandName } from '@quartermaster/contract/command-name';
import { type Environment, processEnvironment } from '@quartermaster/server/environment';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { type Login, readLogin } from './stored-login.ts';

/** The options of every command that calls a service. */
export interface ConnectionOptions {
  /** The address that the command uses: the plugins address for commands about plugins, otherwise the files address. */
  readonly url?: string;
  readonly keyFile?: string;
}

export type Address = 'files' | 'plugins';

/** The addresses of a service. At least one is set. */
interface Addresses {
  readonly filesUrl: string | undefined;
  /** undefined: the files address also serves plugins to a key. */
  readonly pluginsUrl: string | undefined;
}

/** Where the requests of a command go, and with which key. */
export interface Connection extends Addresses {
  readonly apiKey: string | undefined;
}

/**
 * Finds the service: the options come first, then the environment, then the stored login, then the settings of a service on this machine.
 * A stored key is used for the addresses that it was stored with, and for no other.
 * @throws CommandError
 */
export async function findConnection(
  { url, keyFile }: ConnectionOptions,
  address: Address,
  environment: Environment = processEnvironment(),
): Promise<Connection> {
  const login = await readLogin(environment);
  const addresses =
    url === undefined
      ? (readAddresses(environment) ?? login ?? localAddresses(environment))
      : { [`${address}Url`]: checkUrl('--url', url) };
  const found: Addresses = {
    filesUrl: 'url' in addresses ? addresses.url : addresses.filesUrl,
    pluginsUrl: addresses.pluginsUrl,
  };
  const apiKey =
    keyFile === undefined
      ? (readKey(environment) ?? (login !== undefined && belongs(found, login) ? login.apiKey : undefined))
      : await readKeyFile(keyFile);
  return { ...found, apiKey };
}

/** Creates the client of a command. @throws CommandError when the files address is needed, and it or the key is missing */
export async function connect(options: ConnectionOptions, address: Address): Promise<Quartermaster> {
  const { filesUrl, pluginsUrl, apiKey } = await findConnection(options, address);
  if (address === 'files' && filesUrl === undefined)
    throw new CommandError(exitCodes.notConfigured, 'QUARTERMASTER_URL is not set. Set it to the files address.');
  if (address === 'files' && apiKey === undefined)
    throw new CommandError(
      exitCodes.notConfigured,
      `There is no API key for ${filesUrl}. Run "${commandName} login", set QUARTERMASTER_API_KEY, or use --key-file.`,
    );
  // A command about plugins sends nothing to the files address when the plugins address is known.
  return new Quartermaster({ baseUrl: filesUrl ?? pluginsUrl ?? '', pluginsUrl, apiKey });
}

/** Reads an API key from a file, because all users of the machine can see a command line. */
export async function readKeyFile(file: string): Promise<string> {
  return checkKey(await readFile(file, 'utf8'), `--key-file: ${file} must hold one API key, alone on its line.`);
}

/** Returns the key without surrounding spaces. The error does not quote it. */
export function checkKey(text: string, expectation: string): string {
  const key = text.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CommandError(exitCodes.usage, expectation);
  return key;
}

/** Returns the URL without trailing slashes. The error does not quote it, because it may hold a password. */
export function checkUrl(name: string, url: string): string {
  const { protocol, username, password, search, hash, origin, pathname } = URL.canParse(url)
    ? new URL(url)
    : { protocol: '' };
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new CommandError(
      exitCodes.usage,
      `${name} must be an http or https URL, for example https://quartermaster.example.com.`,
    );
  if (`${username}${password}${search}${hash}` !== '')
    throw new CommandError(
      exitCodes.usage,
      `${name} must not contain a user, a query or a fragment. Remove these parts of the URL.`,
    );
  let path = pathname ?? '';
  while (path.endsWith('/')) path = path.slice(0, -1);
  return `${origin}${path}`;
}

function readAddresses({
  QUARTERMASTER_URL: files = '',
  QUARTERMASTER_PLUGINS_URL: plugins = '',
}: Environment): Addresses | undefined {
  if (files === '' && plugins === '') return undefined;
  return {
    filesUrl: files === '' ? undefined : checkUrl('QUARTERMASTER_URL', files),
    pluginsUrl: plugins === '' ? undefined : checkUrl('QUARTERMASTER_PLUGINS_URL', plugins),
  };
}

function readKey({ QUARTERMASTER_API_KEY: key = '' }: Environment): string | undefined {
  if (key === '') return undefined;
  return checkKey(key, 'QUARTERMASTER_API_KEY must be one API key without spaces and line breaks.');
}

/** Whether all these addresses are those of the login. */
function belongs({ filesUrl, pluginsUrl }: Addresses, login: Login): boolean {
  const own = [undefined, login.url, `${login.url}/plugins`, login.pluginsUrl];
  return own.includes(filesUrl) && own.includes(pluginsUrl);
}

/** Returns the addresses of a service with the settings of this environment. The service checks the settings, not the command. */
export function localAddresses(environment: Environment): { readonly filesUrl: string; readonly pluginsUrl: string } {
  const read = (name: string, unset: string) => environment[`QUARTERMASTER_${name}`] || unset;
  const host = read('HOST', '127.0.0.1');
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const address = (part: 'FILES' | 'PLUGINS', port: string) =>
    checkUrl(
      `QUARTERMASTER_PUBLIC_${part}_URL`,
      read(`PUBLIC_${part}_URL`, `http://${name}:${read(`${part}_PORT`, port)}`),
    );
  return { filesUrl: address('FILES', '8080'), pluginsUrl: address('PLUGINS', '8081') };
}
