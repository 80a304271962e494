import { readFile } from 'node:fs/promises';
import { processEnvironment } from '@quartermaster/server/environment';
import { Command, InvalidArgumentError } from 'commander';
import { CommandError, exitCodes } from './exit-codes.ts';
import { type JsonOption, jsonOption, printResult, say } from './output/print.ts';

interface FetchOptions extends JsonOption {
  readonly url: string;
  readonly sha256?: string;
  readonly sums?: string;
  readonly allowHost: readonly string[];
  readonly maxMb: number;
}

/** Prepares and checks the embedding model. */
export function embeddingCommands(): Command {
  const embedding = new Command('embedding').description('check the embedding model, or prepare a local one');
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

async function checkModels(options: JsonOption): Promise<void> {
  const { checkEmbedding } = await import('@quartermaster/server/embedding-check');
  const interruption = abortOnSignals('Interrupted. The check is not complete.');
  try {
    const checked = await checkEmbedding(processEnvironment(), interruption.signal);
    if (checked.length === 0) {
      throw new CommandError(
        exitCodes.notConfigured,
        'No embedding model is configured. Set QUARTERMASTER_EMBEDDING_PROVIDER.',
      );
    }
    printResult(options, { models: checked }, () => {
      for (const { provider, model, dimensions, problem } of checked) {
        const name = [provider, ...(model === null ? [] : [model])].join(' ');
        say(problem === null ? `${name}: works, ${dimensions} dimensions` : `${name}: failed. ${problem}`);
      }
    });
    if (checked.some(({ problem }) => problem !== null)) process.exitCode = exitCodes.failed;
  } finally {
    interruption.stop();
  }
}

async function fetchInto(folder: string, { url, sha256, sums, allowHost, maxMb }: FetchOptions) {
  if ((sha256 === undefined) === (sums === undefined)) {
    throw new CommandError(exitCodes.usage, 'Give either --sha256 or --sums.');
  }
  const checksums = sums === undefined ? { ofList: sha256 ?? '' } : { list: await readFile(sums, 'utf8') };
  const { fetchModelFiles } = await import('@quartermaster/server/model-fetch');
  const interruption = abortOnSignals('Interrupted. Nothing was installed.');
  const request = {
    url,
    checksums,
    folder,
    allowedHosts: allowHost,
    maxBytes: maxMb * 1024 * 1024,
    onProgress: createProgress(),
  };
  try {
    const fetched = await fetchModelFiles(processEnvironment(), request, interruption.signal);
    return { folder: fetched.folder, files: fetched.files, bytes: fetched.bytes, unchanged: fetched.isUnchanged };
  } finally {
    interruption.stop();
  }
}

/** Without this, a signal would end the process before it removes its temporary folder. */
function abortOnSignals(message: string) {
  const controller = new AbortController();
  const abort = () => controller.abort(new CommandError(exitCodes.tryAgain, message));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, abort);
  return {
    signal: controller.signal,
    stop: () => {
      for (const signal of signals) process.off(signal, abort);
    },
  };
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
