import { readFile } from 'node:fs/promises';
import type { OutputArtifact } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import { connect } from '../connection/connection.ts';
import type { ServiceOptions } from '../connection/service-command.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { readBounded } from '../login/read-secret.ts';
import { printError, printJson, say, time } from '../output/print.ts';
import { checkPluginName, readObject } from '../read-arguments.ts';
import { readCredentials } from '../read-credentials.ts';
import { cutTexts } from './inline-media.ts';
import { checkPath, saveOutput } from './save-output.ts';

export interface ExecuteOptions extends ServiceOptions {
  readonly input?: string;
  readonly inputFile?: string;
  readonly credentials?: string;
  readonly profile?: string;
  readonly background?: true;
  readonly out?: string;
  readonly force?: true;
}

/** Runs a plugin and prints its output; with `--json` the whole result; with `--out`, writes the output to a file. */
export async function executePlugin(plugin: string, options: ExecuteOptions): Promise<void> {
  checkPluginName(plugin, 'run');
  checkOutOptions(options);
  const [input, credentials] = [await readInput(options), await readCallCredentials(options)];
  const { plugins, artifacts } = await connect(options, 'plugins');
  if (options.background === true) {
    const { run_id, status } = await plugins.start(plugin, input, { credentials });
    if (options.json === true) printJson({ run_id, status });
    else say(run_id);
    return;
  }
  // Before the run, because a third party may be paid for it.
  if (options.out !== undefined) await checkPath(options.out, options.force);
  // The service ends a run at its own time limit.
  const result = await plugins.run(plugin, input, { credentials, timeout: 0 });
  const { out: path, force, json } = options;
  if (json === true) printJson(result);
  const show = (data: unknown) => (json === true || path === '-' ? undefined : printJson(data, 2));
  let saved: OutputArtifact | undefined;
  if (path === undefined) show(result.data);
  else {
    saved = await saveOutput(result, { artifacts, path, force }).catch((error: unknown) => {
      // An artifact stays for a day, and the error names it.
      show(result.artifacts === undefined ? result.data : cutTexts(result.data));
      throw error;
    });
    show(cutTexts(result.data));
  }
  if (json === true) return;
  for (const artifact of result.artifacts ?? []) if (artifact !== saved) describeArtifact(artifact);
}

function checkOutOptions({ out, background, json }: ExecuteOptions): void {
  if (out === undefined) return;
  if (background === true) throw new CommandError(exitCodes.usage, 'Use --out or --background, not both.');
  if (out === '-' && json === true) throw new CommandError(exitCodes.usage, 'Use --out - or --json, not both.');
}

/** Goes to standard error, so that standard output stays JSON. */
function describeArtifact({ artifact_id: id, file_name: name, ...about }: OutputArtifact): void {
  const { path, media_type: type, bytes, expires_timestamp: expires, file_url: url } = about;
  const place = path === '' ? 'The output' : path;
  printError(`${place}: ${name}, ${type}, ${bytes} bytes, until ${time(expires)}. Download it:`);
  // Without a key there is no id, but the signed URL needs none.
  printError(id === '' ? `  ${url}` : `  ${commandName} artifacts download ${id} --out ${name}`);
}

async function readCallCredentials({ credentials, profile, inputFile }: ExecuteOptions) {
  if (credentials !== undefined && profile !== undefined)
    throw new CommandError(exitCodes.usage, 'Use --credentials or --profile, not both.');
  if (credentials === '-' && inputFile === '-')
    throw new CommandError(exitCodes.usage, 'Only one of --input-file and --credentials can read standard input.');
  return profile === undefined ? await readCredentials(credentials) : { $profile: profile };
}

async function readInput({ input, inputFile }: ExecuteOptions): Promise<Record<string, unknown>> {
  if (input !== undefined && inputFile !== undefined)
    throw new CommandError(exitCodes.usage, 'Use --input or --input-file, not both.');
  if (inputFile === undefined) return readObject(input ?? '{}', '--input');
  const text = inputFile === '-' ? await readBounded(process.stdin) : await readFile(inputFile, 'utf8');
  return readObject(text, '--input-file');
}
