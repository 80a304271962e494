import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandName } from '@quartermaster/contract/command-name';
import type { ImportOptions } from '@quartermaster/importers/openapi';
import { Command } from 'commander';
import { clientCommands } from './credential-commands.ts';
import { addInstallCommands } from './install-commands.ts';
import { mcpImportCommand } from './mcp-import/mcp-import-command.ts';
import { type JsonOption, jsonOption, printError, printJson, printResult, say } from './output/print.ts';
import { readList, readMore, readPairs } from './read-arguments.ts';
import { addRecordCommand } from './record-command.ts';

/** Creates, checks and imports bundles without a running service. Only `record` and `import mcp` use the network. */
export function bundleCommands(): Command {
  const bundle = new Command('bundle').description('create, check, test and install bundles of plugins');
  bundle
    .command('new')
    .argument('<id>', 'id of the bundle')
    .option('--out <folder>', 'folder in which the bundle is created', '.')
    .option('--url <url>', 'example URL of an API call; its query parameters become the inputs of a declarative plugin')
    .description('create a bundle that loads and whose test fails until you complete it')
    .option(...jsonOption)
    .action(async (id: string, { out, url, ...options }: JsonOption & { out: string; url?: string }) => {
      const { scaffoldBundle } = await import('./bundles/scaffold.ts');
      const folder = await scaffoldBundle(out, id, url);
      printResult(options, { folder }, () => say(folder));
    });
  bundle
    .command('check')
    .argument('<folders...>', 'folders of bundles')
    .option('--losses', 'also list everything that provider formats cannot express')
    .description('report errors by file and line, and tools that provider formats cannot express')
    .option(...jsonOption)
    .action(async (folders: string[], options: JsonOption & { losses?: boolean }) => {
      for (const folder of folders) await check(folder, options);
    });
  bundle
    .command('test')
    .argument('<folders...>', 'folders of bundles')
    .option('--plugins <list>', 'test only these plugins: a,b', readList)
    .description('run the examples of the plugins like the service, with recorded responses instead of the network')
    .option(...jsonOption)
    .action(async (folders: string[], { plugins = [], ...options }: JsonOption & { plugins?: string[] }) => {
      for (const folder of folders) await test(folder, plugins, options);
    });
  bundle
    .command('types')
    .argument('<folder>', 'folder of the bundle')
    .option('--out <file>', 'file to write (default: types.ts in the folder)')
    .description('generate TypeScript types for inputs and outputs')
    .option(...jsonOption)
    .action(async (folder: string, { out, ...options }: JsonOption & { out?: string }) => {
      const { checkBundle } = await import('@quartermaster/server/authoring');
      const { bundle: found } = await checkBundle(folder);
      if (found === undefined)
        throw new Error(`The bundle in ${folder} does not load. Run "${commandName} bundle check" to see the errors.`);
      const { writeTypes } = await import('./bundles/write-types.ts');
      const types = writeTypes(found.plugins.values());
      // A link in the folder is not followed, because the bundle may come from others. The caller's own path may be a device.
      const { replaceFile } = await import('@quartermaster/server/bundle-store');
      if (out === undefined) await replaceFile(join(folder, 'types.ts'), types);
      else await writeFile(out, types);
      const file = out ?? join(folder, 'types.ts');
      printResult(options, { file }, () => say(file));
    });
  addRecordCommand(bundle);
  addInstallCommands(bundle);
  const imports = new Command('import').description('generate a bundle from an OpenAPI document or an MCP server');
  imports.addCommand(importCommand());
  imports.addCommand(mcpImportCommand((folder, options) => check(folder, options)));
  bundle.addCommand(imports).addCommand(clientCommands());
  return bundle;
}

interface ImportArguments extends JsonOption, Omit<ImportOptions, 'rename'> {
  readonly tag?: string[];
  readonly path?: string[];
  readonly out: string;
  /** A name, or the path of a file. */
  readonly recipe?: string;
  readonly rename?: Record<string, string>;
}

function importCommand(): Command {
  return new Command('openapi')
    .argument('<file>', 'OpenAPI 2.0, 3.0 or 3.1, or Google Discovery document, as JSON or YAML')
    .requiredOption('--out <folder>', 'folder in which the bundle is created')
    .option('--id <id>', 'id of the bundle (default: from the title)')
    .option('--server <url>', 'base URL of the API, in the place of the servers of the document')
    .option('--operation, --operations <list>', 'import only these operationIds: a,b (repeatable)', readMore)
    .option('--tag <list>', 'import also the operations with these tags (repeatable)', readMore)
    .option('--path <list>', 'import also the operations with these paths, or below them (repeatable)', readMore)
    .option('--rename <pairs>', 'plugin ids by operationId: a=b,c=d', readPairs)
    .option('--recipe <name>', 'import what this recipe chooses, or the recipe in a file NAME.yaml')
    .description('generate a declarative bundle from an OpenAPI document (offline)')
    .option(...jsonOption)
    .action(async (file: string, { out, json, recipe, tag: tags, path: paths, ...options }: ImportArguments) => {
      const { writeBundle } = await import('./bundles/write-bundle.ts');
      const { schemaChecks } = await import('@quartermaster/server/authoring');
      const { importDocument } = await import('./bundles/import-document.ts');
      const chosen = { ...options, tags, paths };
      const imported = await importDocument(await readFile(file, 'utf8'), recipe, schemaChecks, chosen);
      const folder = await writeBundle(out, imported, {}, json === true ? undefined : say);
      const { report } = imported;
      if (json === true) {
        printJson({ folder, ...report });
        await check(folder, { json });
        return;
      }
      for (const { operation, reason } of report.skipped) say(`not imported: ${operation}: ${reason}`);
      for (const note of report.notes) say(`note: ${note}`);
      for (const { plugin_id, notes } of report.imported) for (const note of notes) say(`${plugin_id}: ${note}`);
      console.log(`${report.imported.length} of ${report.operations} operations imported into ${folder}`);
      await check(folder, {});
    });
}

/** Prints errors as `file:line field: message`. The exit code is 1 if the service would refuse the bundle. */
async function check(folder: string, options: JsonOption & { losses?: boolean }): Promise<void> {
  const { checkBundle, formatBundleFailure } = await import('@quartermaster/server/authoring');
  const { failures, losses, bundle } = await checkBundle(folder);
  const isOk = failures.length === 0 && bundle !== undefined;
  if (!isOk) process.exitCode = 1;
  if (options.json === true) {
    const listed = losses.filter(({ losses: list }) => list.length > 0);
    printJson({
      folder,
      bundle_id: bundle?.id ?? null,
      plugins: bundle?.plugins.size ?? 0,
      errors: failures,
      losses: listed,
    });
    return;
  }
  for (const failure of failures) printError(formatBundleFailure(failure));
  for (const { pluginId, format, losses: list } of losses) {
    for (const { kind, path, message } of list) {
      if (options.losses === true || kind === 'unsupported')
        say(`${pluginId} as ${format}: ${kind}: ${path}: ${message}`);
    }
  }
  const counts = [counted(bundle?.plugins.size ?? 0, 'plugin'), counted(failures.length, 'error')];
  say(`${bundle?.id ?? folder}: ${counts.join(', ')}`);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

async function test(folder: string, plugins: readonly string[], { json }: JsonOption): Promise<void> {
  const { runExamples } = await import('@quartermaster/server/authoring');
  const results = await runExamples(folder, plugins);
  const wrong = results.filter((result) => result.wrong !== null);
  if (wrong.length > 0) process.exitCode = 1;
  if (json === true) {
    printJson({
      folder,
      examples: results.length,
      failed: wrong.map(({ pluginId, index, wrong: reason }) => ({ plugin_id: pluginId, example: index + 1, reason })),
    });
    return;
  }
  for (const { pluginId, index, wrong: reason } of wrong) printError(`${pluginId} example ${index + 1}: ${reason}`);
  say(`${folder}: ${results.length - wrong.length} of ${results.length} examples pass`);
}
