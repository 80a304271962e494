import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { verifyInstallation } from './verify/verify-installation.ts';

/** The folder of this installation. */
const ownRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** Files of the product that are no longer what was shipped and installed. */
export function verifyCommand(): Command {
  return new Command('verify')
    .argument('[folder]', 'folder of the installation', ownRoot)
    .description('compare the files of an installation with their hashes; exits with 1 when one differs')
    .action(async (folder: string) => {
      const { source, files, differences } = await verifyInstallation(resolve(folder));
      for (const { kind, path } of differences) console.log(`${kind} ${path}`);
      console.error(`${files} files compared with ${source} and the list of the installation`);
      if (differences.length > 0) throw new Error(`${differences.length} files differ.`);
    });
}
