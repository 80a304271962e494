import type { Quartermaster } from '@quartermaster/client';
import { commandName } from '@quartermaster/contract/command-name';
import { Command } from 'commander';
import { withAdministration } from './administration.ts';
import { callService, type ServiceOptions, withConnection } from './connection/service-command.ts';
import { deleteEach } from './each-item.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { type JsonOption, jsonOption, printJson, printResult, say, time } from './output/print.ts';
import { type ListOptions, printItem, printList, withPages } from './output/print-items.ts';

/** Manages the encryption keys of credential profiles. The profiles themselves are created over HTTP. */
export function profileCommands(): Command {
  const profile = new Command('profile').description('manage the encryption keys of stored credentials');
  profile
    .command('new-key')
    .description('print a new key for QUARTERMASTER_SEALING_KEY or for a line of a key file')
    .option(...jsonOption)
    .action(async (options: JsonOption) => {
      const { createEncryptionKey } = await import('@quartermaster/server/administration');
      const key = createEncryptionKey();
      printResult(options, { key }, () => say(key));
    });
  profile
    .command('rotate')
    .description('encrypt all stored credentials with the first key, while the service runs or is stopped')
    .option(...jsonOption)
    .action(({ json }: JsonOption) =>
      withAdministration(async ({ profiles }) => {
        const { keyId, reencrypted, unreadable, keys } = await profiles.rotate();
        if (json === true)
          printJson({ key_id: keyId, encrypted: reencrypted, keys: Object.fromEntries(keys), unreadable });
        else {
          console.log(`encrypted with the key ${keyId}: ${reencrypted}`);
          for (const [id, count] of keys) if (id !== keyId) console.log(`still encrypted with the key ${id}: ${count}`);
        }
        for (const name of unreadable) console.error(`No key decrypts ${name}.`);
        if (reencrypted > 0) {
          console.error(
            `Restart all processes of this store that run without key ${keyId}. Until then they answer requests that use these credentials with 503.`,
          );
        }
        if (unreadable.length > 0) process.exitCode = 1;
      }),
    );
  profile
    .command('forget')
    .requiredOption('--unreadable', 'remove the profiles that no key decrypts')
    .description('remove profiles whose key is lost, and forget that key')
    .option(...jsonOption)
    .action((options: JsonOption) =>
      withAdministration(async ({ profiles }) => {
        for (const name of await profiles.forgetUnreadable())
          printResult(options, { removed: name }, () => console.log(`removed ${name}`));
      }),
    );
  return profile;
}

interface Filters extends ServiceOptions, ListOptions {
  readonly bundle?: string;
  readonly endUser?: string;
}

/** Lists and ends the accounts that end users have connected. */
export function connectionsCommands(): Command {
  const connections = new Command('connections').description('list and end connected accounts of end users');
  const on = (name: string, description: string) =>
    withConnection(connections.command(name).description(description), 'plugins');
  const list = on('list', 'list connections, newest first')
    .option('--bundle <id>', 'list only connections to this bundle')
    .option('--end-user <id>', 'list only connections of this end user');
  withPages(list, 'connections').action(callService('plugins', listConnections));
  on('get', 'print a connection, without its credentials')
    .argument('<connection>', 'id of the connection')
    .action(
      callService('plugins', async (qm, id: string, { json }: ServiceOptions) =>
        printItem(await qm.connections.get(id), json),
      ),
    );
  on('delete', 'revoke connections at their providers and delete them')
    .argument('<connections...>', 'ids of the connections')
    .action(
      callService('plugins', async (qm, ids: string[], { json }: ServiceOptions) =>
        deleteEach(ids, { member: 'connection_id', json }, (id) => qm.connections.delete(id)),
      ),
    );
  return connections;
}

async function listConnections(
  { connections }: Quartermaster,
  { bundle, endUser, ...options }: Filters,
): Promise<void> {
  const filter = {
    ...(bundle === undefined ? {} : { bundle_id: bundle }),
    ...(endUser === undefined ? {} : { end_user: endUser }),
  };
  await printList(options, (page) => connections.list({ ...filter, ...page }), {
    heads: ['CONNECTION', 'BUNDLE', 'END USER', 'STATUS', 'ACCOUNT', 'UPDATED'],
    row: ({ connection_id, bundle_id, end_user, status, reason, account, updated_timestamp }) => [
      connection_id,
      bundle_id,
      end_user,
      reason === null ? status : `${status} (${reason})`,
      account?.label ?? '',
      time(updated_timestamp),
    ],
  });
}

interface SetOptions extends JsonOption {
  readonly clientId: string;
  readonly secretFile?: string;
  readonly public?: true;
}

/** Manages the OAuth clients with which end users connect accounts. A running service uses a new client immediately. */
export function clientCommands(): Command {
  const client = new Command('client').description('manage the OAuth clients with which end users connect accounts');
  client
    .command('set')
    .argument('<bundle>', 'id of the bundle')
    .requiredOption('--client-id <id>', 'id of the client that you registered with the provider')
    .option('--secret-file <path>', 'file with the client secret (default: standard input)')
    .option('--public', 'the client has no secret')
    .description('store the OAuth client of a bundle, encrypted, and print the redirect URI')
    .option(...jsonOption)
    .action(setClient);
  client
    .command('show')
    .argument('<bundle>', 'id of the bundle')
    .description('print the client id and the redirect URI to register with the provider; the secret is never shown')
    .option(...jsonOption)
    .action((bundle: string, options: JsonOption) =>
      withAdministration(async ({ clients }) => {
        const found = await clients.find(bundle);
        const shown = { bundle_id: bundle, client_id: found?.clientId ?? null, redirect_uri: clients.redirectUri };
        printResult(options, shown, () => {
          say(`client id: ${shown.client_id ?? 'not set'}`);
          say(`redirect URI: ${shown.redirect_uri}`);
        });
      }),
    );
  client
    .command('delete')
    .argument('<bundle>', 'id of the bundle')
    .description('delete the OAuth client of a bundle; its connections stay, but cannot be refreshed')
    .option(...jsonOption)
    .action((bundle: string, options: JsonOption) =>
      withAdministration(async ({ clients }) => {
        if (!(await clients.remove(bundle))) {
          const remedy = `Run "${commandName} bundle client show ${bundle}" to see what is set`;
          throw new CommandError(exitCodes.notFound, `The bundle ${bundle} has no OAuth client. ${remedy}.`);
        }
        printResult(options, { deleted: bundle }, () => undefined);
      }),
    );
  return client;
}

async function setClient(bundle: string, { clientId, ...options }: SetOptions): Promise<void> {
  const secret = options.public === true ? undefined : await readClientSecret(options.secretFile);
  await withAdministration(async ({ clients }) => {
    await clients.set(bundle, clientId, secret);
    const stored = { bundle_id: bundle, client_id: clientId, redirect_uri: clients.redirectUri };
    printResult(options, stored, () => say(`redirect URI: ${stored.redirect_uri}`));
  });
}

/** No argument holds the secret, because all users of the machine can see a command line. */
async function readClientSecret(file: string | undefined): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const { readSecret } = await import('./login/read-secret.ts');
  const given = file === undefined ? await readSecret('Client secret: ') : await readFile(file, 'utf8');
  const secret = given.trim();
  if (secret !== '') return secret;
  throw new CommandError(
    exitCodes.usage,
    'The client secret is empty. Send it to standard input, name its file, or use --public.',
  );
}
