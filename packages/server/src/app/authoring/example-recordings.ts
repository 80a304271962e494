import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Example } from '@quartermaster/plugin-kit';
import type { CompiledPlugin } from '../../tools/catalogue/catalogue.ts';
import { readCassette } from './cassette.ts';
import type { Recording } from './upstream-stage.ts';

/** An example and its position in the plugin's file. */
export interface PlacedExample {
  readonly plugin: CompiledPlugin;
  /** The position in the file, from 0. */
  readonly index: number;
  readonly example: Example;
}

const suffix = '.cassette.json';

export function examplesOf(plugin: CompiledPlugin): PlacedExample[] {
  return (plugin.manifest.examples ?? []).map((example, index) => ({ plugin, index, example }));
}

/** The path of an example's cassette, relative to the bundle. null when the example names a payload file. */
export function cassetteOf({ plugin, index, example }: PlacedExample): string | null {
  const { upstream = `${plugin.id}-${index + 1}${suffix}` } = example;
  if (!upstream.endsWith(suffix)) return null;
  return upstream.includes('/') ? upstream : `fixtures/${upstream}`;
}

/** Reads the recorded answers of an example, or returns a sentence that explains why there are none. */
export async function findRecording(placed: PlacedExample): Promise<Recording | { readonly wrong: string }> {
  const { plugin, example } = placed;
  const { folder } = plugin.bundle;
  const cassette = cassetteOf(placed);
  if (cassette !== null) {
    const text = await readInside(folder, [cassette]);
    if (text === null && example.upstream === undefined) return null;
    if (text === null)
      return { wrong: `the recording ${JSON.stringify(cassette)} does not exist; run "bundle record" to create it` };
    const read = readCassette(text.body.toString('utf8'));
    return read === null ? { wrong: `${cassette} is not a valid recording` } : { calls: read.calls };
  }
  const { upstream = '' } = example;
  const found = await readInside(folder, [upstream, join('fixtures', upstream)]);
  if (found === null) return { wrong: `the recording ${JSON.stringify(upstream)} does not exist` };
  return { body: found.body, contentType: `${mediaTypeOf(found.path)}; charset=utf-8` };
}

async function readInside(
  folder: string,
  names: readonly string[],
): Promise<{ readonly path: string; readonly body: Buffer } | null> {
  for (const path of names.map((name) => join(folder, name))) {
    if (!path.startsWith(`${folder}${sep}`)) continue;
    const body = await readFile(path).catch(() => null);
    if (body !== null) return { path, body };
  }
  return null;
}

function mediaTypeOf(path: string): string {
  if (path.endsWith('.xml')) return 'application/xml';
  return path.endsWith('.json') ? 'application/json' : 'text/plain';
}
