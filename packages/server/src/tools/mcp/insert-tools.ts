import { randomUUID } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import type { CachedJson } from '../../platform/json/json-cache.ts';

/**
 * The placeholder for all tools in messages of the SDK; its name cannot be guessed. The SDK would validate and serialise thousands
 * of tools in one turn, which blocks the event loop.
 */
export const allTools: Tool = { name: `tools-${randomUUID()}`, inputSchema: { type: 'object' } };

const marker = Buffer.from(JSON.stringify(allTools));

/** Replaces each {@link allTools} with the list of tools. The SDK never splits a message. */
export async function* insertTools(
  messages: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  listed: () => Promise<CachedJson>,
): AsyncGenerator<Uint8Array> {
  for await (const message of messages) {
    let rest = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    for (let at = rest.indexOf(marker); at !== -1; at = rest.indexOf(marker)) {
      yield rest.subarray(0, at);
      const { body } = await listed();
      if (Buffer.isBuffer(body)) yield body;
      else yield* body();
      rest = rest.subarray(at + marker.length);
    }
    yield rest;
  }
}

export function holdsTools(bytes: Buffer): boolean {
  return bytes.includes(marker);
}
