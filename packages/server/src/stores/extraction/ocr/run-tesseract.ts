import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { Logger } from '../../../platform/log/logger.ts';
import {
  type IsolatedCommand,
  type SpawnSettings,
  spawnIsolated,
} from '../../../platform/processes/isolation/spawn-isolated.ts';
import { watchMemory } from '../../../platform/processes/usage-watch.ts';
import { longestTable, type Picture, type Recognition, type UnreadReason } from './recognition.ts';

export interface TesseractRun {
  readonly tesseract: Tesseract;
  readonly languages: readonly string[];
  readonly isolation: SpawnSettings;
  readonly memoryMb: number;
  readonly milliseconds: number;
  /** `turned` finds the orientation of the page first; `layout` prints nothing but orientation and script. Default: upright. */
  readonly mode?: keyof typeof segmentations;
  readonly logger: Logger;
}

const shownOutput = 1_000;
/** Values of `--psm`. */
const segmentations = { layout: '0', turned: '1', upright: '3' } as const;

/**
 * Reads one page in a process of its own, in a sandbox without network and without files. The program receives only a
 * picture that the service has described: the form PGM has a header of three numbers, and no compression. Other bytes
 * would be hazardous, because the program takes a text for a list of files to open.
 */
export async function runTesseract(picture: Picture, run: TesseractRun, signal: AbortSignal): Promise<Recognition> {
  const started = performance.now();
  const spawned = spawnIsolated(commandFor(picture, run), run.isolation);
  const child = spawned.process;
  let stopped: UnreadReason | undefined;
  const stop = (reason: UnreadReason) => {
    stopped ??= reason;
    spawned.kill();
  };
  const cancel = () => stop('failed');
  signal.addEventListener('abort', cancel, { once: true });
  const timer = setTimeout(() => stop('page_time_limit'), run.milliseconds);
  const unwatch = watchMemory(spawned.pid, run.memoryMb, () => stop('memory_limit'));
  const table = collect(child.stdout, longestTable, () => stop('failed'));
  const printed = collect(child.stderr, shownOutput, () => {});
  // A program that could not be started emits `error` and then `close`.
  child.on('error', (cause) => run.logger.warn({ err: cause }, 'ocr process not started'));
  child.stdin?.on('error', () => {}).write(`P5\n${picture.width} ${picture.height}\n255\n`);
  child.stdin?.end(picture.gray);
  if (signal.aborted) cancel();
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  unwatch();
  signal.removeEventListener('abort', cancel);
  const seconds = (performance.now() - started) / 1000;
  if (code === 0 && stopped === undefined) return { kind: 'read', tsv: table().toString('utf8'), seconds };
  const reason = stopped ?? (spawned.hasRunOutOfMemory() ? 'memory_limit' : 'failed');
  // A page with few letters has no layout.
  const isExpected = run.mode === 'layout' && stopped === undefined;
  if (!signal.aborted && !isExpected)
    run.logger.warn({ reason, code, stderr: printed().toString('utf8') }, 'ocr of a page failed');
  return { kind: 'unread', reason, seconds };
}

/** Without arguments of the document: a language that is not installed never gets here. */
function commandFor({ dpi }: Picture, run: TesseractRun): IsolatedCommand {
  const { tesseract, memoryMb, milliseconds, mode = 'upright' } = run;
  const { path, dataFolder } = tesseract;
  const languages = mode === 'layout' ? ['osd'] : run.languages;
  const folders = ['--tessdata-dir', dataFolder];
  const options = ['-l', languages.join('+'), '--psm', segmentations[mode], '--dpi', String(dpi), '--oem', '1'];
  return {
    command: [path, 'stdin', 'stdout', ...folders, ...options, '-c', 'tessedit_create_tsv=1'],
    environment: { OMP_THREAD_LIMIT: '1' },
    readable: [dataFolder],
    folder: '/',
    limits: {
      dataMb: 2 * memoryMb,
      fileMb: 0,
      descriptors: 64,
      tasks: 16,
      cpuSeconds: Math.ceil(milliseconds / 1000) + 1,
    },
    memoryMb,
  };
}

/** Collects the beginning of what a process prints. */
function collect(stream: Readable | null, most: number, onExceeded: () => void): () => Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  stream
    ?.on('error', () => {})
    .on('data', (piece: Buffer) => {
      if (length + piece.length > most) onExceeded();
      else pieces.push(piece);
      length += piece.length;
    });
  return () => Buffer.concat(pieces);
}

const execute = promisify(execFile);

interface Tesseract {
  readonly path: string;
  /** Such as `tesseract 5.3.0`. */
  readonly engine: string;
  /** The folder of the language data. */
  readonly dataFolder: string;
  /** The languages that are installed, and `osd` for the orientation of pages. */
  readonly installed: readonly string[];
}

interface SearchOptions {
  /** The folders of the PATH, for a name without a folder. */
  readonly folders: readonly string[];
  readonly languages: readonly string[];
  readonly dataFolder?: string | undefined;
}

/** The program without a document, an environment or a long time. */
const options = { env: {}, cwd: '/', timeout: 20_000, maxBuffer: 2 ** 18 };

/**
 * Finds the program and asks it for its version and its languages.
 * @returns a sentence with the remedy when the program cannot be used
 */
export async function findTesseract(
  program: string,
  { folders, languages, dataFolder }: SearchOptions,
): Promise<Tesseract | string> {
  const path = await findProgram(program, folders);
  if (path === undefined) return `Install the packages ${packagesOf(languages)} to read scanned pages.`;
  try {
    const [version, list] = [
      await execute(path, ['--version'], options),
      await execute(
        path,
        ['--list-langs', ...(dataFolder === undefined ? [] : ['--tessdata-dir', dataFolder])],
        options,
      ),
    ];
    return understand(path, { version: version.stdout, list: list.stdout, languages });
  } catch {
    return `The program ${path} does not start. Install the packages ${packagesOf(languages)} to read scanned pages.`;
  }
}

function understand(
  path: string,
  { version, list, languages }: { version: string; list: string; languages: readonly string[] },
): Tesseract | string {
  const engine = /^tesseract v?(\d+)[^\n]{0,40}/.exec(version);
  const [heading = '', ...names] = list.split('\n').map((line) => line.trim());
  const dataFolder = /"([^"]+)"/.exec(heading)?.[1]; // bounded: at most 256 KiB (the list of languages)
  if (engine === null || Number(engine[1]) < 5 || dataFolder === undefined)
    return `Install tesseract 5 or later to read scanned pages; ${path} is another version.`;
  const installed = names.filter((name) => name !== '');
  const missing = languages.filter((language) => !installed.includes(language));
  if (missing.length > 0) return `Install the packages ${packagesOf(missing)} to read scanned pages.`;
  return { path, engine: engine[0].trim(), dataFolder, installed };
}

async function findProgram(program: string, folders: readonly string[]): Promise<string | undefined> {
  for (const path of isAbsolute(program) ? [program] : folders.map((folder) => join(folder, program))) {
    try {
      await access(path, constants.X_OK);
      return await realpath(path);
    } catch {
      // The next folder may have it.
    }
  }
  return undefined;
}

function packagesOf(languages: readonly string[]): string {
  return ['tesseract-ocr', ...languages.map(packageOf)].join(', ');
}

/** The name of the package of Debian and Ubuntu. */
export function packageOf(language: string): string {
  return `tesseract-ocr-${language.replaceAll('_', '-')}`;
}
