import { processEnvironment } from '@quartermaster/server/environment';
import { Command } from 'commander';
import { type JsonOption, jsonOption, printJson, say } from '../output/print.ts';
import { readList, readPairs } from '../read-arguments.ts';
import { readCredentials } from '../read-credentials.ts';
import type { McpArguments } from './import-from-server.ts';

/** @param check reports the errors of the bundle in a folder */
export function mcpImportCommand(check: (folder: string, options: JsonOption) => Promise<void>): Command {
  return new Command('mcp')
    .argument('<url>', 'address of the MCP server (Streamable HTTP)')
    .requiredOption('--out <folder>', 'folder in which the bundle is created')
    .option('--id <id>', 'id of the bundle (default: from the name of the server)')
    .option('--operations <list>', 'import only these tools: a,b', readList)
    .option('--rename <pairs>', 'plugin ids by tool: a=b,c=d', readPairs)
    .option(
      '--describe <file>',
      'YAML or JSON file with names and descriptions by tool, which replace those of the server',
    )
    .option('--bearer <name>', 'send a bearer token; the name of its credential, such as ACCESS_TOKEN')
    .option(
      '--header <pairs>',
      'send headers: X-Api-Key=API_KEY, each a header and the name of its credential',
      readPairs,
    )
    .option('--credentials <file>', 'file with a JSON object of these credentials by name; "-" reads standard input')
    .option('--accept', 'accept the changes of the server since the last import', false)
    .description('generate a declarative bundle from the tools of an MCP server')
    .option(...jsonOption)
    .action(async (url: string, { json, ...options }: JsonOption & McpArguments) => {
      const { importFromServer } = await import('./import-from-server.ts');
      const credentials = await readCredentials(options.credentials);
      const { lines, folder } = await importFromServer(url, options, {
        credentials,
        environment: processEnvironment(),
      });
      if (json === true) printJson({ folder, lines });
      else for (const line of lines) say(line);
      if (folder !== null) return await check(folder, json === true ? { json } : {});
      console.error(
        'The server has changed since the last import. Nothing was written. Review the changes above, then use --accept.',
      );
      process.exitCode = 1;
    });
}
