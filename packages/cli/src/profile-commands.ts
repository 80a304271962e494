import { Command } from 'commander';
import { withAdministration } from './administration.ts';
import { type JsonOption, jsonOption, printJson, printResult, say } from './output/print.ts';

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
