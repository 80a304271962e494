import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ReadYaml, readYaml } from './read-yaml.ts';

/** Remembers what YAML texts say from one start to the next: reading them is most of the work of a large catalogue. */
export interface YamlCache {
  /** As `readYaml`; what is wrong is never remembered. */
  readonly read: ReadYaml;
  /** Keeps what was asked for so far, if that has changed, and remembers no more. Never fails: the next start takes longer. */
  keep(): Promise<void>;
}

/** Another reader or another form of the file needs another number. */
const format = 1;

export interface YamlCacheFiles {
  /** Only ever read by the service that has written it. */
  readonly file: string;
  /** What came with the product, written when it was installed; only read. */
  readonly shipped?: string;
}

export async function openYamlCache({ file, shipped }: YamlCacheFiles): Promise<YamlCache> {
  const ready = shipped === undefined ? new Map<string, string>() : await readStored(shipped);
  const stored = await readStored(file);
  const asked = new Map<string, string>();
  let isChanged = false;
  let isKept = false;

  return {
    read: (text) => {
      if (isKept) return readYaml(text);
      const key = createHash('sha256').update(text).digest('base64url');
      const known = ready.get(key) ?? stored.get(key);
      if (known !== undefined) {
        if (!ready.has(key)) asked.set(key, known);
        return { value: JSON.parse(known), lineOf: (path) => lineIn(text, path) };
      }
      const yaml = readYaml(text);
      if ('mistakes' in yaml) return yaml;
      // Now: the value belongs to whoever asked, who may add defaults to it.
      asked.set(key, JSON.stringify(yaml.value));
      isChanged = true;
      return yaml;
    },
    keep: async () => {
      isKept = true;
      const text = JSON.stringify({ format, texts: Object.fromEntries(asked) });
      const isSmaller = asked.size < stored.size;
      for (const map of [ready, stored, asked]) map.clear();
      if (isChanged || isSmaller) await write(file, text).catch(() => undefined);
    },
  };
}

/** Lines are wanted for mistakes only, which are rare: then the text is read after all. */
function lineIn(text: string, path: readonly string[]): number {
  const yaml = readYaml(text);
  return 'mistakes' in yaml ? 1 : yaml.lineOf(path);
}

async function readStored(file: string): Promise<Map<string, string>> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (Reflect.get(Object(value), 'format') !== format) return new Map();
    const texts = Object.entries(Object(Reflect.get(Object(value), 'texts')));
    return new Map(texts.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    // Missing, or written by a service that was interrupted: it is only a cache.
    return new Map();
  }
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
