import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { commandName } from '@quartermaster/contract/command-name';
import type { Command } from 'commander';
import { withAdministration } from './administration.ts';
import { addPackageCommands, addSearchCommand } from './bundles/package-commands.ts';
import { type JsonOption, jsonOption, printJson, printResult, printTable, say } from './output/print.ts';
import { isPackage } from './read-arguments.ts';

/** Packs, signs, trusts and installs bundle archives. A running service loads changes within seconds. */
export function addInstallCommands(bundle: Command): void {
  addPackCommands(bundle);
  addTrustCommands(bundle);
  addPackageCommands(bundle);
  addSearchCommand(bundle);
  addRecipesCommand(bundle);
  bundle
    .command('remove')
    .argument('<id>', 'id of an installed bundle')
    .description('remove an installed bundle; runs in progress finish')
    .option(...jsonOption)
    .action(async (id: string, options: JsonOption) => {
      await (await import('./bundles/package-commands.ts')).removePackage(id);
      printResult(options, { removed: id }, () => undefined);
    });
  bundle
    .command('list')
    .description('list installed bundles')
    .option(...jsonOption)
    .action(async ({ json }: JsonOption) => {
      const { listInstalled } = await import('./bundles/package-commands.ts');
      const rows = await listInstalled();
      if (json === true) for (const row of rows) printJson(row);
      else
        printTable(
          ['BUNDLE', 'VERSION', 'ARCHIVE', 'PUBLISHER', 'FILES'],
          rows.map(({ bundle_id, version, id, publisher, changed }) => [
            bundle_id,
            version,
            id,
            publisher ?? 'not signed',
            describeFiles(changed),
          ]),
        );
    });
}

function describeFiles(changed: readonly string[] | null): string {
  if (changed === null) return 'not in this data folder';
  return changed.length === 0 ? 'as installed' : `changed: ${changed.join(', ')}`;
}

function addRecipesCommand(bundle: Command): void {
  bundle
    .command('recipes')
    .description('list the recipes for "bundle add --recipe"')
    .option(...jsonOption)
    .action(async ({ json }: JsonOption) => {
      const { listRecipes, readRecipe } = await import('@quartermaster/importers/recipes');
      const rows = listRecipes().map((name) => {
        const { document, plugins, server } = readRecipe(name);
        return { name, server, plugins: plugins.map(({ id }) => id), document: document.url };
      });
      if (json === true) for (const row of rows) printJson(row);
      else
        printTable(
          ['RECIPE', 'SERVER', 'PLUGINS'],
          rows.map(({ name, server, plugins }) => [name, server, plugins.join(', ')]),
        );
    });
}

function addPackCommands(bundle: Command): void {
  bundle
    .command('keygen')
    .argument('<file>', 'new file for the private key; an existing file is never replaced')
    .description('create a signing key and print its public key, which you publish')
    .option(...jsonOption)
    .action(async (file: string, options: JsonOption) => {
      const { writeNewKey } = await import('@quartermaster/server/bundle-store');
      const publicKey = await writeNewKey(file);
      printResult(options, { public_key: publicKey }, () => say(publicKey));
    });
  bundle
    .command('pack')
    .argument(
      '<folder>',
      'folder of the bundle, or a package such as @activepieces/piece-gmail that needs other packages',
    )
    .option('--key <file>', 'private key to sign with')
    .option('--out <folder>', 'folder for the archive', '.')
    .description('pack a bundle into one archive, or a package with its dependencies for "bundle add" (with npm)')
    .option(...jsonOption)
    .action(async (folder: string, { key, out, ...options }: JsonOption & { key?: string; out: string }) => {
      if (isPackage(folder)) {
        const { packPackage } = await import('./bundles/pack-package.ts');
        const packed = await packPackage(folder, out);
        return printResult(options, packed, () => say(packed.file));
      }
      const { packFolder, replaceFile } = await import('@quartermaster/server/bundle-store');
      const { archive, bytes, fileName } = await packFolder(folder, key ?? null);
      await mkdir(out, { recursive: true });
      await replaceFile(join(out, fileName), bytes);
      const [file, files] = [join(out, fileName), archive.contents.files.length];
      printResult(options, { file, id: archive.id, files, bytes: bytes.length }, () => {
        console.error(`${archive.id}, ${files} files, ${bytes.length} bytes`);
        say(file);
      });
    });
}

function addTrustCommands(bundle: Command): void {
  bundle
    .command('trust')
    .argument('[key]', 'public key of the publisher, ed25519:… (default: list the trusted publishers)')
    .option('--name <name>', 'name of the publisher', '')
    .description('trust a publisher, so that its signed bundles can be installed')
    .option(...jsonOption)
    .action(async (key: string | undefined, { name, json }: JsonOption & { name: string }) => {
      await withAdministration(async ({ publishers }) => {
        if (key !== undefined) await publishers.trust(key, name);
        const rows = (await publishers.list()).map((publisher) => [publisher.key, publisher.name]);
        if (json !== true) printTable(['KEY', 'NAME'], rows);
        else for (const [trusted, called] of rows) printJson({ key: trusted, name: called });
      });
    });
  bundle
    .command('distrust')
    .argument('<key>', 'public key of the publisher')
    .description('stop trusting a publisher; its installed bundles stay')
    .option(...jsonOption)
    .action(async (key: string, options: JsonOption) => {
      await withAdministration(async ({ publishers }) => {
        if (!(await publishers.distrust(key)))
          throw new Error(
            `${key} is not a trusted publisher. Run "${commandName} bundle trust" to list the trusted publishers.`,
          );
      });
      printResult(options, { distrusted: key }, () => undefined);
    });
}
