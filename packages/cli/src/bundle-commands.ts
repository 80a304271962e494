import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkBundle, runExamples } from '@quartermaster/server/authoring';
import { replaceFile } from '@quartermaster/server/bundle-store';
import { Command } from 'commander';
import { scaffoldBundle } from './bundles/scaffold.ts';
import { writeTypes } from './bundles/write-types.ts';
import { addInstallCommands } from './install-commands.ts';
import { mcpImportCommand } from './mcp-import/mcp-import-command.ts';
import { type ImportOptions, importOpenApi } from './openapi/import-openapi.ts';
import { writeBundle } from './openapi/write-bundle.ts';
import { complain, say } from './print.ts';
import { readList, readPairs } from './read-arguments.ts';
import { addRecordCommand } from './record-command.ts';

/** Writing bundles: nothing here needs a running service, and only `record` and `import mcp` a network. */
export function bundleCommands(): Command {
  const bundle = new Command('bundle').description('write, check and import bundles of plugins');
  bundle
    .command('new')
    .argument('<id>', 'id of the bundle')
    .option('--out <folder>', 'folder of bundles', '.')
    .option(
      '--url <url>',
      'a call of the API, as in its documentation: its query becomes the inputs of a plugin without code',
    )
    .description('start a bundle: it loads, and its test fails until you write it')
    .action(async (id: string, { out, url }: { out: string; url?: string }) => {
      console.log(await scaffoldBundle(out, id, url));
    });
  bundle
    .command('check')
    .argument('<folders...>', 'folders of bundles')
    .option('--losses', 'also list everything that formats of providers cannot say')
    .description('say what the service would refuse, by file and line, and what providers cannot be told')
    .action(async (folders: string[], options: { losses?: boolean }) => {
      for (const folder of folders) await check(folder, options.losses === true);
    });
  bundle
    .command('test')
    .argument('<folders...>', 'folders of bundles')
    .option('--plugins <list>', 'only these: a,b', readList)
    .description('run the examples of the plugins as the service would, with recordings in place of the network')
    .action(async (folders: string[], { plugins = [] }: { plugins?: string[] }) => {
      for (const folder of folders) await test(folder, plugins);
    });
  bundle
    .command('types')
    .argument('<folder>', 'folder of the bundle')
    .option('--out <file>', 'default: types.ts in the folder')
    .description('write TypeScript types of the inputs and outputs')
    .action(async (folder: string, { out }: { out?: string }) => {
      const { bundle: found } = await checkBundle(folder);
      if (found === undefined) throw new Error(`${folder} does not load; see "bundle check"`);
      const types = writeTypes(found.plugins.values());
      // The folder may be somebody else's: a link in it is not followed. What the caller names may be a device.
      if (out === undefined) await replaceFile(join(folder, 'types.ts'), types);
      else await writeFile(out, types);
      say(out ?? join(folder, 'types.ts'));
    });
  addRecordCommand(bundle);
  addInstallCommands(bundle);
  const imports = new Command('import').description('make a bundle of something else');
  imports.addCommand(importCommand());
  imports.addCommand(mcpImportCommand((folder) => check(folder, false)));
  bundle.addCommand(imports);
  return bundle;
}

interface ImportArguments extends Omit<ImportOptions, 'rename'> {
  readonly out: string;
  readonly rename?: Record<string, string>;
}

function importCommand(): Command {
  return new Command('openapi')
    .argument('<file>', 'OpenAPI 2.0, 3.0 or 3.1, as JSON or YAML')
    .requiredOption('--out <folder>', 'folder of bundles')
    .option('--id <id>', 'id of the bundle (default: made of the title)')
    .option('--server <url>', 'where the API is, when the document does not say it wholly')
    .option('--operations <list>', 'only these, by operationId: a,b', readList)
    .option('--rename <pairs>', 'ids of plugins, by operationId: a=b,c=d', readPairs)
    .description('make a bundle without code of an OpenAPI document; reads no network')
    .action(async (file: string, { out, ...options }: ImportArguments) => {
      const made = importOpenApi(await readFile(file, 'utf8'), options);
      const folder = await writeBundle(out, made);
      const { report } = made;
      for (const { operation, reason } of report.skipped) say(`not imported: ${operation}: ${reason}`);
      for (const note of report.notes) say(`note: ${note}`);
      for (const { plugin_id, notes } of report.imported) for (const note of notes) say(`${plugin_id}: ${note}`);
      console.log(`${report.imported.length} of ${report.operations} operations imported into ${folder}`);
      await check(folder, false);
    });
}

/** Prints findings as `file:line field: message`; the exit code is 1 when the service would refuse something. */
async function check(folder: string, listLosses: boolean): Promise<void> {
  const { failures, losses, bundle } = await checkBundle(folder);
  for (const { file, line, field, message } of failures) complain(`${file}:${line ?? '-'} ${field}: ${message}`);
  if (failures.length > 0 || bundle === undefined) process.exitCode = 1;
  for (const { pluginId, format, losses: list } of losses) {
    for (const { kind, path, message } of list) {
      if (listLosses || kind === 'unsupported') say(`${pluginId} as ${format}: ${kind}: ${path}: ${message}`);
    }
  }
  const counts = [counted(bundle?.plugins.size ?? 0, 'plugin'), counted(failures.length, 'mistake')];
  say(`${bundle?.id ?? folder}: ${counts.join(', ')}`);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

async function test(folder: string, plugins: readonly string[]): Promise<void> {
  const results = await runExamples(folder, plugins);
  const wrong = results.filter((result) => result.wrong !== null);
  for (const { pluginId, index, wrong: reason } of wrong) complain(`${pluginId} example ${index + 1}: ${reason}`);
  if (wrong.length > 0) process.exitCode = 1;
  say(`${folder}: ${results.length - wrong.length} of ${results.length} examples pass`);
}
