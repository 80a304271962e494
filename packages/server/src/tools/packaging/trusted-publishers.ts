import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onceRetried } from '../../platform/concurrency/once.ts';
import { publishersUnreadable } from './problems.ts';
import { isPublicKeyText, type PublicKeyText } from './signatures.ts';

export interface Publisher {
  readonly key: PublicKeyText;
  /** The name that the operator gave. */
  readonly name: string;
}

/** The trusted publishers of archives. */
export interface TrustedPublishers {
  list(): Promise<readonly Publisher[]>;
  /** Replaces the name of a publisher that is trusted already. */
  add(publisher: Publisher): Promise<void>;
  /** @returns whether the publisher was trusted */
  remove(key: PublicKeyText): Promise<boolean>;
}

const fileName = '.publishers.json';

/** Adds the publishers that an earlier version listed in a file beside the installed bundles, before the rows are used. */
export function adoptPublishers(folder: string, rows: TrustedPublishers): TrustedPublishers {
  const file = join(folder, fileName);
  const adopted = onceRetried(async () => {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return;
    const value = parse(text);
    if (!Array.isArray(value) || !value.every(isPublisher)) throw publishersUnreadable(file);
    for (const publisher of value) await rows.add(publisher);
    await rm(file);
  });
  const afterwards =
    <Given extends readonly unknown[], T>(work: (...given: Given) => Promise<T>) =>
    async (...given: Given) => {
      await adopted();
      return await work(...given);
    };
  return { list: afterwards(rows.list), add: afterwards(rows.add), remove: afterwards(rows.remove) };
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
