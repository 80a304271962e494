import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { type JsonOption, jsonOption, printJson } from './output/print.ts';

/** The folder of the installation that this program belongs to. */
const ownRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** Finds files of an installation that changed after they were shipped or installed. */
export function verifyCommand(): Command {
  return new Command('verify')
    .argument('[folder]', 'folder of the installation', ownRoot)
    .description('compare the files of an installation with their hashes; exits with 1 if one differs')
    .option(...jsonOption)
    .action(async (folder: string, { json }: JsonOption) => {
      const { verifyInstallation } = await import('./verify/verify-installation.ts');
      const { source, files, differences } = await verifyInstallation(resolve(folder));
      if (json === true) printJson({ source, files, differences });
      else for (const { kind, path } of differences) console.log(`${kind} ${path}`);
      console.error(`Compared ${files} files with ${source} and the list of the installation.`);
      if (differences.length > 0)
        throw new Error(`${differences.length} files differ. Restore them, or install the release again.`);
    });
}
