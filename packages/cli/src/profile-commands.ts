import { makeSealingKey, withAdministration } from '@quartermaster/server/administration';
import { Command } from 'commander';

/** The encryption keys of credential profiles; the profiles themselves are created over HTTP. */
export function profileCommands(): Command {
  const profile = new Command('profile').description('manage the encryption keys of stored credentials');
  profile
    .command('new-key')
    .description('print a new key, for QUARTERMASTER_SEALING_KEY or a line of a key file')
    .action(() => console.log(makeSealingKey()));
  profile
    .command('rotate')
    .description('encrypt everything with the first key, also while the service runs')
    .action(() =>
      withAdministration(async ({ profiles }) => {
        const { keyId, resealed, unreadable, keys } = await profiles.rotate();
        console.log(`encrypted with the key ${keyId}: ${resealed}`);
        for (const [id, count] of keys) if (id !== keyId) console.log(`still encrypted with the key ${id}: ${count}`);
        for (const name of unreadable) console.error(`no key decrypts ${name}`);
        if (resealed > 0) {
          console.error(
            `Restart every process of this store that was started without the key ${keyId}: until then it answers requests with these credentials with 503.`,
          );
        }
        if (unreadable.length > 0) process.exitCode = 1;
      }),
    );
  profile
    .command('forget')
    .requiredOption('--unreadable', 'those that no key decrypts')
    .description('remove profiles whose key is lost, and give up that key')
    .action(() =>
      withAdministration(async ({ profiles }) => {
        for (const name of await profiles.forgetUnreadable()) console.log(`removed ${name}`);
      }),
    );
  return profile;
}
