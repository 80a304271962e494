import { makeSealingKey, withAdministration } from '@quartermaster/server/administration';
import { Command } from 'commander';

/** The keys that seal credential profiles; the profiles themselves are made over HTTP. */
export function profileCommands(): Command {
  const profile = new Command('profile').description('credential profiles: the keys that seal them');
  profile
    .command('new-key')
    .description('print a new key for QUARTERMASTER_SEALING_KEY or a line of QUARTERMASTER_SEALING_KEY_FILE')
    .action(() => console.log(makeSealingKey()));
  profile
    .command('rotate')
    .description('seal everything with the first key of the settings; works beside a running service')
    .action(() =>
      withAdministration(async ({ profiles }) => {
        const { keyId, resealed, unreadable, keys } = await profiles.rotate();
        console.log(`sealed anew with the key ${keyId}: ${resealed}`);
        for (const [id, count] of keys) if (id !== keyId) console.log(`still sealed with the key ${id}: ${count}`);
        for (const name of unreadable) console.error(`no key of the settings opens ${name}`);
        if (unreadable.length > 0) process.exitCode = 1;
      }),
    );
  profile
    .command('forget')
    .requiredOption('--unreadable', 'those that no key of the settings opens')
    .description('remove profiles whose key is lost')
    .action(() =>
      withAdministration(async ({ profiles }) => {
        for (const name of await profiles.forgetUnreadable()) console.log(`removed ${name}`);
      }),
    );
  return profile;
}
