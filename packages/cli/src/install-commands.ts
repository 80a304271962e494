import { join } from 'node:path';
import { processEnvironment } from '@quartermaster/server/environment';
import type { Command } from 'commander';
import { printTable } from './output/print.ts';

/** Packs, signs, trusts and installs bundle archives. A running service loads changes within seconds. */
export function addInstallCommands(bundle: Command): void {
  addPackCommands(bundle);
  addTrustCommands(bundle);
  bundle
    .command('install')
    .argument('<file>', 'archive that "bundle pack" created')
    .option('--allow-unsigned', 'install it although it is not signed', false)
    .option('--allow-unknown', 'install it although its publisher is not trusted', false)
    .description('install a bundle without network access; a running service loads it within seconds')
    .action(async (file: string, options: { allowUnsigned: boolean; allowUnknown: boolean }) => {
      const { id, publisher, replaced } = await (await openPackages()).install({ file, ...options });
      console.log(`installed ${id}`);
      console.log(publisher === null ? 'not signed' : `signed by ${publisher}`);
      if (replaced !== null) console.log(`replaces ${replaced}`);
    });
  bundle
    .command('remove')
    .argument('<id>', 'id of an installed bundle')
    .description('remove an installed bundle; runs in progress finish')
    .action(async (id: string) => {
      await (await openPackages()).remove(id);
    });
  bundle
    .command('list')
    .description('list installed bundles')
    .action(async () => {
      const rows = await (await openPackages()).list();
      printTable(
        ['bundle', 'version', 'archive', 'publisher', 'files'],
        rows.map(({ bundleId, contents, id, publisher, changed }) => [
          bundleId,
          contents.version,
          id,
          publisher ?? 'not signed',
          changed.length === 0 ? 'as installed' : `changed: ${changed.join(', ')}`,
        ]),
      );
    });
}

async function openPackages() {
  const { createPackageManager } = await import('@quartermaster/server/bundle-store');
  return createPackageManager(processEnvironment());
}

function addPackCommands(bundle: Command): void {
  bundle
    .command('keygen')
    .argument('<file>', 'new file for the private key; an existing file is never replaced')
    .description('create a signing key and print its public key, which you publish')
    .action(async (file: string) => {
      const { writeNewKey } = await import('@quartermaster/server/bundle-store');
      console.log(await writeNewKey(file));
    });
  bundle
    .command('pack')
    .argument('<folder>', 'folder of the bundle')
    .option('--key <file>', 'private key to sign with')
    .option('--out <folder>', 'folder for the archive', '.')
    .description('pack a bundle into one archive; the same files give the same archive')
    .action(async (folder: string, { key, out }: { key?: string; out: string }) => {
      const { packFolder, replaceFile } = await import('@quartermaster/server/bundle-store');
      const { archive, bytes, fileName } = await packFolder(folder, key ?? null);
      await replaceFile(join(out, fileName), bytes);
      console.error(`${archive.id}, ${archive.contents.files.length} files, ${bytes.length} bytes`);
      console.log(join(out, fileName));
    });
}

function addTrustCommands(bundle: Command): void {
  bundle
    .command('trust')
    .argument('[key]', 'public key of the publisher, ed25519:… (default: list the trusted publishers)')
    .option('--name <name>', 'name of the publisher', '')
    .description('trust a publisher, so that its signed bundles can be installed')
    .action(async (key: string | undefined, { name }: { name: string }) => {
      const packages = await openPackages();
      if (key !== undefined) await packages.trust(key, name);
      const publishers = await packages.publishers();
      printTable(
        ['key', 'name'],
        publishers.map((publisher) => [publisher.key, publisher.name]),
      );
    });
  bundle
    .command('distrust')
    .argument('<key>', 'public key of the publisher')
    .description('stop trusting a publisher; its installed bundles stay')
    .action(async (key: string) => {
      if (!(await (await openPackages()).distrust(key)))
        throw new Error(`${key} is not a trusted publisher. Run "bundle trust" to list the trusted publishers.`);
    });
}
