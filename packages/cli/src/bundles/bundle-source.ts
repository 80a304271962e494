import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { BundlePlanRequest } from '@quartermaster/contract';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { isPackage } from '../read-arguments.ts';
import { readCredentials } from '../read-credentials.ts';

type Source = BundlePlanRequest['source'];

export interface SourceOptions {
  readonly from?: string;
  readonly mcp?: string;
  readonly recipe?: string;
  readonly server?: string;
  readonly operations?: string[];
  readonly tag?: string[];
  readonly path?: string[];
  readonly bearer?: string;
  readonly header?: Record<string, string>;
  readonly credentials?: string;
}

/** The largest archive that can be installed. */
const mostBytes = 40 * 2 ** 20;

/** Recognises what is installed: a package by its name, a URL by the options or the answer, and a file by its first bytes. */
export async function findSource(name: string | undefined, options: SourceOptions): Promise<Source> {
  const { from, mcp, recipe, server, operations, tag: tags, path: paths } = options;
  const [given, ...others] = [name, from, mcp].filter((one) => one !== undefined);
  const chosen = operations === undefined ? {} : { operations };
  const named = recipe === undefined ? {} : { recipe };
  const api = {
    kind: 'openapi',
    ...named,
    ...chosen,
    ...(server === undefined ? {} : { server }),
    ...(tags === undefined ? {} : { tags }),
    ...(paths === undefined ? {} : { paths }),
  } as const;
  if (given === undefined && recipe !== undefined) return api;
  if (given === undefined || others.length > 0)
    throw new CommandError(
      exitCodes.usage,
      'Name one package, file or URL, one MCP server with --mcp, or one recipe with --recipe.',
    );
  const url = mcp ?? (options.bearer === undefined && options.header === undefined ? undefined : given);
  if (url !== undefined && /^https?:\/\//.test(url)) {
    const { bearer, header: headers, credentials } = options;
    const access = { ...(bearer === undefined ? {} : { bearer }), ...(headers === undefined ? {} : { headers }) };
    return { kind: 'mcp', url, ...access, credentials: await readCredentials(credentials), ...chosen };
  }
  if (/^https?:\/\//.test(given)) return { ...api, url: given };
  if (isPackage(given) && from === undefined) return { kind: 'piece', ...readPackage(given) };
  const bytes = await readBounded(given);
  if (bytes.subarray(0, 2).equals(gzipStart)) return { kind: 'piece_file', content: bytes.toString('base64') };
  if (bytes.subarray(0, 2).toString() === 'PK') return { kind: 'archive', content: bytes.toString('base64') };
  return { ...api, content: bytes.toString('utf8') };
}

const gzipStart = Buffer.from([0x1f, 0x8b]);

/** Splits `@scope/name@version`. */
export function readPackage(text: string): { readonly package: string; readonly version?: string } {
  const at = text.indexOf('@', 1);
  return at === -1 ? { package: text } : { package: text.slice(0, at), version: text.slice(at + 1) };
}

/** Reads a file within the limit. It does not block on a pipe without a writer. */
async function readBounded(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new CommandError(exitCodes.notFound, `${path} is not a regular file. Name a file.`);
    if (stats.size > mostBytes)
      throw new CommandError(
        exitCodes.invalidData,
        `${path} has ${stats.size} bytes. At most ${mostBytes} are allowed.`,
      );
    return await file.readFile();
  } finally {
    await file.close();
  }
}
