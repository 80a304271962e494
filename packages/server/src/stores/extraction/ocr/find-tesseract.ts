import { execFile } from 'node:child_process';
import { access, constants, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Tesseract {
  readonly path: string;
  /** Such as `tesseract 5.3.0`. */
  readonly engine: string;
  /** The folder of the language data. */
  readonly dataFolder: string;
  /** The languages that are installed, and `osd` for the orientation of pages. */
  readonly installed: readonly string[];
}

/** The program without a document, an environment or a long time. */
const options = { env: {}, cwd: '/', timeout: 20_000, maxBuffer: 2 ** 18 };

/**
 * Finds the program and asks it for its version and its languages.
 * @param folders the folders of the PATH, for a name without a folder
 * @returns a sentence with the remedy when the program cannot be used
 */
export async function findTesseract(
  program: string,
  { folders, languages }: { folders: readonly string[]; languages: readonly string[] },
): Promise<Tesseract | string> {
  const path = await findProgram(program, folders);
  if (path === undefined) return `Install the packages ${packagesOf(languages)} to read scanned pages.`;
  try {
    const [version, list] = [await run(path, ['--version'], options), await run(path, ['--list-langs'], options)];
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

/** The names of the packages of Debian and Ubuntu. */
function packagesOf(languages: readonly string[]): string {
  return ['tesseract-ocr', ...languages.map((language) => `tesseract-ocr-${language.replaceAll('_', '-')}`)].join(', ');
}
