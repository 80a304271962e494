import { readFile } from 'node:fs/promises';
import { commandName } from '@quartermaster/contract/command-name';
import { processEnvironment } from '@quartermaster/server/environment';
import { Command, InvalidArgumentError } from 'commander';
import { CommandError, exitCodes } from './exit-codes.ts';
import { type JsonOption, jsonOption, printJson, printResult, printTable, say } from './output/print.ts';

interface FetchOptions extends JsonOption {
  readonly url: string;
  readonly sha256?: string;
  readonly sums?: string;
  readonly allowHost: readonly string[];
  readonly maxMb: number;
}

/** Prepares and checks the embedding model. */
export function embeddingCommands(): Command {
  const embedding = new Command('embedding').description('choose, prepare or check the embedding model');
  embedding
    .command('use')
    .argument('<name>', 'name of a recommended model, such as multilingual-e5-small')
    .option('--mirror <url>', 'address to use instead of https://huggingface.co, with the same paths', readUrl)
    .option('--allow-host <host...>', 'further hosts, name or name:port, to which redirects may lead', [])
    .option('--folder <folder>', 'only install the model into this new folder')
    .description('download a recommended model, try it and search by meaning with it, without a restart of the service')
    .option(...jsonOption)
    .action(useRecommended);
  embedding
    .command('list')
    .description('list the recommended models with their size and licence')
    .option(...jsonOption)
    .action(listRecommended);
  embedding
    .command('fetch')
    .argument('[folder]', 'new folder for the model (default: QUARTERMASTER_EMBEDDING_MODEL)')
    .requiredOption('--url <url>', 'address of the folder that holds the files', readUrl)
    .option('--sha256 <checksum>', 'SHA-256 of the file SHA256SUMS at this address', readChecksum)
    .option('--sums <file>', 'list of the files with their SHA-256, as sha256sum prints it')
    .option('--allow-host <host...>', 'further hosts, name or name:port, to which redirects may lead', [])
    .option('--max-mb <number>', 'maximum size of all files in MiB', readMebibytes, 4096)
    .description('download a model, verify its checksums and install it for the provider onnx')
    .option(...jsonOption)
    .action(async (folder: string | undefined, options: FetchOptions) => {
      const target = folder ?? processEnvironment().QUARTERMASTER_EMBEDDING_MODEL;
      if (target === undefined || target === '') {
        throw new CommandError(exitCodes.usage, 'Name the folder, or set QUARTERMASTER_EMBEDDING_MODEL.');
      }
      const fetched = await fetchInto(target, options);
      printResult(options, fetched, () => {
        say(fetched.unchanged ? `${fetched.folder} has these files already` : `installed ${fetched.folder}`);
        say(`Set QUARTERMASTER_EMBEDDING_PROVIDER=onnx and QUARTERMASTER_EMBEDDING_MODEL=${fetched.folder}.`);
      });
    });
  embedding
    .command('check')
    .description('send one short text to each configured embedding model, with the settings of the service')
    .option(...jsonOption)
    .action(checkModels);
  return embedding;
}

interface UseOptions extends JsonOption {
  readonly mirror?: string;
  readonly allowHost: readonly string[];
  readonly folder?: string;
}

async function useRecommended(name: string, options: UseOptions): Promise<void> {
  const { findRecommended, hubUrl, useModel } = await import('@quartermaster/server/model-fetch');
  const { bytes, licence, dimensions, languages } = findRecommended(name);
  const megabytes = Math.round(bytes / 1_000_000);
  const about = `${name}: ${languages}, ${dimensions} dimensions, licence ${licence}`;
  process.stderr.write(`${about}. It downloads ${megabytes} MB from ${options.mirror ?? hubUrl}.\n`);
  const request = {
    name,
    mirror: options.mirror,
    allowedHosts: options.allowHost,
    folder: options.folder,
    onRuntime: () => void process.stderr.write('installing the runtime for local models (290 MB)\n'),
    onProgress: createProgress(),
  };
  await untilInterrupted('Interrupted. The embedding model was not changed.', async (signal) => {
    const { folder, bytes, isUnchanged, former } = await useModel(processEnvironment(), request, signal);
    const isInUse = options.folder === undefined;
    const result = { model: name, folder, bytes, unchanged: isUnchanged, in_use: isInUse, former };
    printResult(options, result, () => {
      say(isUnchanged ? `${folder} has these files already; the model works` : `installed ${folder}; the model works`);
      if (isInUse) say('The service uses it from now on, and embeds all collections in the background.');
      else say(`Set QUARTERMASTER_EMBEDDING_PROVIDER=onnx and QUARTERMASTER_EMBEDDING_MODEL=${folder}.`);
      if (former !== null) say(`Until a collection is embedded, the vectors of ${former} answer.`);
    });
  });
}

async function listRecommended({ json }: JsonOption): Promise<void> {
  const { listModels } = await import('@quartermaster/server/model-fetch');
  const models = await listModels(processEnvironment());
  if (json === true) {
    for (const { name, languages, dimensions, bytes, licence, state } of models)
      printJson({ name, languages, dimensions, bytes, licence, state });
    return;
  }
  printTable(
    ['MODEL', 'LANGUAGES', 'DIMENSIONS', 'DOWNLOAD', 'LICENCE', 'STATE'],
    models.map(({ name, languages, dimensions, bytes, licence, state }) => [
      name,
      languages,
      String(dimensions),
      `${Math.round(bytes / 1_000_000)} MB`,
      licence,
      state ?? '-',
    ]),
  );
}

async function checkModels(options: JsonOption): Promise<void> {
  const { checkEmbedding } = await import('@quartermaster/server/embedding-check');
  await untilInterrupted('Interrupted. The check is not complete.', async (signal) => {
    const checked = await checkEmbedding(processEnvironment(), signal);
    if (checked.length === 0) {
      throw new CommandError(
        exitCodes.notConfigured,
        `No embedding model is configured. Run "${commandName} embedding use multilingual-e5-small", or set QUARTERMASTER_EMBEDDING_PROVIDER.`,
      );
    }
    printResult(options, { models: checked }, () => {
      for (const { provider, model, dimensions, problem } of checked) {
        const name = [provider, ...(model === null ? [] : [model])].join(' ');
        say(problem === null ? `${name}: works, ${dimensions} dimensions` : `${name}: failed. ${problem}`);
      }
    });
    if (checked.some(({ problem }) => problem !== null)) process.exitCode = exitCodes.failed;
  });
}

async function fetchInto(folder: string, { url, sha256, sums, allowHost, maxMb }: FetchOptions) {
  if ((sha256 === undefined) === (sums === undefined)) {
    throw new CommandError(exitCodes.usage, 'Give either --sha256 or --sums.');
  }
  const checksums = sums === undefined ? { ofList: sha256 ?? '' } : { list: await readFile(sums, 'utf8') };
  const { fetchModelFiles } = await import('@quartermaster/server/model-fetch');
  const request = {
    url,
    checksums,
    folder,
    allowedHosts: allowHost,
    maxBytes: maxMb * 1024 * 1024,
    onProgress: createProgress(),
  };
  return untilInterrupted('Interrupted. Nothing was installed.', async (signal) => {
    const { folder, files, bytes, isUnchanged } = await fetchModelFiles(processEnvironment(), request, signal);
    return { folder, files, bytes, unchanged: isUnchanged };
  });
}

/** Runs the work until a signal aborts it, which would otherwise end the process before it removes its temporary folder. */
async function untilInterrupted<Result>(
  message: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => controller.abort(new CommandError(exitCodes.tryAgain, message));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, abort);
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, abort);
  }
}

/** Prints each file when it begins, and each full 100 MiB. */
function createProgress(): (name: string, bytes: number) => void {
  const step = 100 * 1024 * 1024;
  let lastName = '';
  let lastStep = 0;
  return (name, bytes) => {
    const reached = Math.floor(bytes / step);
    if (name === lastName && reached === lastStep) return;
    [lastName, lastStep] = [name, reached];
    process.stderr.write(`${name}: ${Math.floor(bytes / 1024 / 1024)} MiB\n`);
  };
}

function readUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '') {
    return text;
  }
  throw new InvalidArgumentError('The address must be an http or https URL without user, query and fragment.');
}

function readChecksum(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text;
  throw new InvalidArgumentError('The checksum must be 64 hexadecimal digits.');
}

function readMebibytes(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('The limit must be a whole number from 1 to 9999999.');
}
