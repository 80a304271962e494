import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../platform/disk/replace-file.ts';
import { publishersUnreadable } from './problems.ts';
import { isPublicKeyText, type PublicKeyText } from './signatures.ts';

export interface Publisher {
  readonly key: PublicKeyText;
  /** The name that the operator gave. */
  readonly name: string;
}

/** The trusted publishers of archives, stored in a file beside the installed bundles. */
export interface TrustedPublishers {
  list(): Promise<readonly Publisher[]>;
  add(publisher: Publisher): Promise<void>;
  /** @returns whether the publisher was trusted */
  remove(key: PublicKeyText): Promise<boolean>;
}

const fileName = '.publishers.json';

export function createTrustedPublishers(folder: string): TrustedPublishers {
  const file = join(folder, fileName);

  async function list(): Promise<Publisher[]> {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '[]';
      throw error;
    });
    const value = parse(text);
    if (!Array.isArray(value) || !value.every(isPublisher)) throw publishersUnreadable(file);
    return value;
  }

  async function write(publishers: readonly Publisher[]): Promise<void> {
    await mkdir(folder, { recursive: true });
    await replaceFile(file, `${JSON.stringify(publishers, null, 2)}\n`);
  }

  return {
    list,
    add: async (publisher) => {
      const others = (await list()).filter(({ key }) => key !== publisher.key);
      await write([...others, publisher]);
    },
    remove: async (key) => {
      const before = await list();
      const after = before.filter((publisher) => publisher.key !== key);
      if (after.length < before.length) await write(after);
      return after.length < before.length;
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPublisher(value: unknown): value is Publisher {
  const { key, name } = Object(value);
  return isPublicKeyText(key) && typeof name === 'string';
}
