import { join } from 'node:path';
import { processEnvironment } from '@quartermaster/server';
import { createBundleStore, packFolder, replaceFile, writeNewKey } from '@quartermaster/server/bundle-store';
import type { Command } from 'commander';
import { printTable } from './print.ts';

/** Bundles as archives: made, signed, trusted, installed. A running service follows within seconds. */
export function addInstallCommands(bundle: Command): void {
  addPackCommands(bundle);
  addTrustCommands(bundle);
  bundle
    .command('install')
    .argument('<file>', 'archive, as "bundle pack" writes it')
    .option('--allow-unsigned', 'take it although nobody signed it', false)
    .option('--allow-unknown', 'take it although its publisher is not trusted', false)
    .description('install a bundle; reads no network, and a running service follows within seconds')
    .action(async (file: string, options: { allowUnsigned: boolean; allowUnknown: boolean }) => {
      const { id, publisher, replaced } = await store().install({ file, ...options });
      console.log(`installed ${id}`);
      console.log(publisher === null ? 'not signed' : `signed by ${publisher}`);
      if (replaced !== null) console.log(`replaces ${replaced}`);
    });
  bundle
    .command('remove')
    .argument('<id>', 'id of an installed bundle')
    .description('remove an installed bundle; runs under way finish')
    .action(async (id: string) => {
      await store().remove(id);
    });
  bundle
    .command('list')
    .description('list installed bundles')
    .action(async () => {
      const rows = await store().list();
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

function store() {
  return createBundleStore(processEnvironment());
}

function addPackCommands(bundle: Command): void {
  bundle
    .command('keygen')
    .argument('<file>', 'where the private key goes; never over another file')
    .description('make the key you sign bundles with; prints the public key, which you tell others')
    .action(async (file: string) => {
      console.log(await writeNewKey(file));
    });
  bundle
    .command('pack')
    .argument('<folder>', 'folder of the bundle')
    .option('--key <file>', 'private key to sign with')
    .option('--out <folder>', 'where the archive goes', '.')
    .description('make one archive of a bundle; the same files give the same archive')
    .action(async (folder: string, { key, out }: { key?: string; out: string }) => {
      const { archive, bytes, fileName } = await packFolder(folder, key ?? null);
      await replaceFile(join(out, fileName), bytes);
      console.error(`${archive.id}, ${archive.contents.files.length} files, ${bytes.length} bytes`);
      console.log(join(out, fileName));
    });
}

function addTrustCommands(bundle: Command): void {
  bundle
    .command('trust')
    .argument('[key]', 'public key of a publisher, ed25519:…; without it: list those that are trusted')
    .option('--name <name>', 'who it is', '')
    .description('take bundles that this publisher has signed')
    .action(async (key: string | undefined, { name }: { name: string }) => {
      if (key !== undefined) await store().trust(key, name);
      const publishers = await store().publishers();
      printTable(
        ['key', 'name'],
        publishers.map((publisher) => [publisher.key, publisher.name]),
      );
    });
  bundle
    .command('distrust')
    .argument('<key>', 'public key')
    .description('take no more bundles of this publisher; what is installed stays')
    .action(async (key: string) => {
      if (!(await store().distrust(key))) throw new Error(`${key} was not trusted by "bundle trust"`);
    });
}
