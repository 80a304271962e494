import { randomUUID } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import type { Prepared } from '../kernel/prepared-lists.ts';

/**
 * Stands for all tools in what the library writes; its name cannot be guessed. The library would build, check and write
 * thousands of tools in one go, which holds the event loop.
 */
export const allTools: Tool = { name: `tools-${randomUUID()}`, inputSchema: { type: 'object' } };

const marker = Buffer.from(JSON.stringify(allTools));

/** The bytes with the list of tools wherever {@link allTools} stands. The library writes a message at once, never in parts. */
export async function* insertTools(
  messages: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  listed: () => Promise<Prepared>,
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
