import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';
import { Problem, pathNotFound } from '../../platform/problem.ts';

/** A file of the built console; `name` is its path in the folder, never a text of a request. */
export interface ConsoleFile {
  readonly name: string;
  readonly type: string;
  /** The start of `digests.identity`, for the ETag. */
  readonly hash: string;
  /** SHA-256 in base64url of each form: as it is, and compressed with Brotli at build time. */
  readonly digests: { readonly identity: string; readonly br?: string };
}

/** The service makes `gzip` of what the build has compressed, for clients that do not read Brotli. */
export type Encoding = 'identity' | 'br' | 'gzip';

const [decompress, compress] = [promisify(brotliDecompress), promisify(gzip)];

const suffixes = { identity: '', br: '.br' } as const;

/** The folder that `scripts/build-console.mjs` writes. The list of its files and what was sent as gzip are kept in memory. */
export interface ConsoleFiles {
  /** @throws Problem SERVICE_UNAVAILABLE when the console was not built. */
  find(name: string): Promise<ConsoleFile | undefined>;
  /**
   * Returns the content of one form of a file, after comparing the file with the digest that the build recorded.
   * @throws Problem SERVICE_UNAVAILABLE when the file was changed
   */
  read(file: ConsoleFile, encoding: Encoding): Promise<Buffer>;
  /** Reads every file. @returns the paths of those that were changed; empty when the console was not built */
  findChanged(): Promise<readonly string[]>;
}

export const builtConsole = fileURLToPath(new URL('../../../../console/dist/', import.meta.url));

export function createConsoleFiles(folder = builtConsole): ConsoleFiles {
  let list: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;
  const load = async () => {
    const text = await readFile(`${folder}manifest.json`, 'utf8').catch(() => null);
    if (text === null) throw consoleNotBuilt();
    const { files } = JSON.parse(text) as { files: ConsoleFile[] }; // written by scripts/build-console.mjs
    return new Map(files.map((file) => [file.name, file]));
  };
  const known = () => {
    // A missing console is not cached, because it may be built while the service runs.
    list ??= load().catch((error) => {
      list = undefined;
      throw error;
    });
    return list;
  };
  const gzipped = new Map<string, Promise<Buffer>>();
  function toGzip(file: ConsoleFile): Promise<Buffer> {
    const known = gzipped.get(file.hash);
    if (known !== undefined) return known;
    const content = read(file, 'identity').then((plain) => compress(plain));
    gzipped.set(file.hash, content);
    content.catch(() => gzipped.delete(file.hash));
    return content;
  }
  async function read(file: ConsoleFile, encoding: Encoding): Promise<Buffer> {
    if (encoding === 'gzip') return await toGzip(file);
    if (encoding === 'identity' && isBrotliOnly(file)) return await decompress(await read(file, 'br'));
    const path = file.name + suffixes[encoding];
    const content = await readFile(folder + path).catch(() => undefined);
    if (content === undefined || hash('sha256', content, 'base64url') !== file.digests[encoding]) {
      throw consoleChanged(path);
    }
    return content;
  }

  return {
    find: async (name) => (await known()).get(name),
    read,
    async findChanged() {
      const files = await known().catch(() => new Map<string, ConsoleFile>());
      const changed: string[] = [];
      for (const file of files.values()) {
        for (const encoding of ['identity', 'br'] as const) {
          if (file.digests[encoding] === undefined || (encoding === 'identity' && isBrotliOnly(file))) continue;
          await read(file, encoding).catch(() => changed.push(file.name + suffixes[encoding]));
        }
      }
      return changed;
    },
  };
}

/** The build keeps assets in Brotli only, because few clients ask for another form. */
function isBrotliOnly({ name, digests }: ConsoleFile): boolean {
  return name.startsWith('assets/') && digests.br !== undefined;
}

function consoleNotBuilt(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The console is not built. Run "npm run build".');
}

/** @param path in the folder of the console */
function consoleChanged(path: string): Problem {
  const message = `The console file ${path} was changed after the build. Delete packages/console/dist and run "npm run build".`;
  return new Problem('SERVICE_UNAVAILABLE', message);
}

export function pageNotFound(): Problem {
  return pathNotFound();
}
