import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPublicKeyText, type PublicKeyText } from './signatures.ts';

export interface Publisher {
  readonly key: PublicKeyText;
  /** Who the operator says it is. */
  readonly name: string;
}

/** The publishers whose archives are taken, in a file beside the installed bundles. */
export interface TrustedPublishers {
  list(): Promise<readonly Publisher[]>;
  add(publisher: Publisher): Promise<void>;
  /** @returns whether it was there */
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
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value) || !value.every(isPublisher)) throw new Error(`${file} holds no list of publishers`);
    return value;
  }

  async function write(publishers: readonly Publisher[]): Promise<void> {
    await mkdir(folder, { recursive: true });
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(publishers, null, 2)}\n`, { mode: 0o644 });
    await rename(draft, file);
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

function isPublisher(value: unknown): value is Publisher {
  const { key, name } = Object(value);
  return isPublicKeyText(key) && typeof name === 'string';
}
