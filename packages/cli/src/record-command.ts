import { processEnvironment } from '@quartermaster/server/environment';
import type { Command } from 'commander';
import { type JsonOption, jsonOption, printError, printJson, say } from './output/print.ts';
import { readList } from './read-arguments.ts';
import { readCredentials } from './read-credentials.ts';

interface RecordArguments extends JsonOption {
  readonly credentials?: string;
  readonly plugins?: readonly string[];
  readonly write: boolean;
  readonly outputs: boolean;
}

export function addRecordCommand(bundle: Command): void {
  bundle
    .command('record')
    .argument('<folder>', 'folder of the bundle')
    .option('--credentials <file>', 'file with a JSON object of credentials by name; "-" reads standard input')
    .option('--plugins <list>', 'record only these plugins: a,b', readList)
    .option('--write', 'also record examples that change data of the API', false)
    .option('--outputs', 'write the outputs into the examples', false)
    .description('call the real API for each example and record its responses, without credentials, for "bundle test"')
    .option(...jsonOption)
    .action(async (folder: string, options: RecordArguments) => {
      const { recordExamples } = await import('@quartermaster/server/authoring');
      const results = await recordExamples({
        folder,
        credentials: await readCredentials(options.credentials),
        plugins: options.plugins ?? [],
        allowWrites: options.write,
        updateOutputs: options.outputs,
        environment: processEnvironment(),
      });
      if (results.some(({ result }) => result === 'wrong')) process.exitCode = 1;
      for (const { pluginId, index, result, detail } of results) {
        if (options.json === true) {
          printJson({ plugin_id: pluginId, example: index + 1, result, detail });
          continue;
        }
        const line = `${pluginId} example ${index + 1}: ${detail}`;
        if (result === 'wrong') printError(line);
        else say(result === 'left' ? `${line}; unchanged` : line);
      }
      if (options.json === true) return;
      console.log(
        `${results.filter(({ result }) => result === 'recorded').length} of ${results.length} examples recorded`,
      );
    });
}
