import { createReadStream, type ReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { consoleNotBuilt } from './problems.ts';

/** A file of the built console; `name` is its path in the folder, never a text of a request. */
export interface ConsoleFile {
  readonly name: string;
  readonly type: string;
  /** Hash of the content. */
  readonly hash: string;
  /** Bytes of each form there is: as it is, and compressed at build time. */
  readonly sizes: { readonly identity: number; readonly br?: number; readonly gzip?: number };
}

/** The folder that `scripts/build-console.mjs` writes. Nothing of it is kept in memory but the list. */
export interface ConsoleFiles {
  /** @throws Problem SERVICE_UNAVAILABLE when the console was not built. */
  find(name: string): Promise<ConsoleFile | undefined>;
  /** A page whole: pages are small and get a nonce. */
  readPage(name: string): Promise<string>;
  stream(file: ConsoleFile, suffix: '' | '.br' | '.gz'): ReadStream;
}

export const builtConsole = fileURLToPath(new URL('../../../console/dist/', import.meta.url));

export function createConsoleFiles(folder = builtConsole): ConsoleFiles {
  let list: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;
  const load = async () => {
    const text = await readFile(`${folder}manifest.json`, 'utf8').catch(() => null);
    if (text === null) throw consoleNotBuilt();
    const { files } = JSON.parse(text) as { files: ConsoleFile[] }; // written by scripts/build-console.mjs
    return new Map(files.map((file) => [file.name, file]));
  };
  const known = () => {
    // A failed look is not kept: the console may be built while the service runs.
    list ??= load().catch((error) => {
      list = undefined;
      throw error;
    });
    return list;
  };
  return {
    find: async (name) => (await known()).get(name),
    readPage: async (name) => {
      await known();
      return readFile(`${folder}${name}`, 'utf8');
    },
    stream: (file, suffix) => createReadStream(`${folder}${file.name}${suffix}`),
  };
}
