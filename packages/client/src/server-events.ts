/** One server-sent event. */
export interface ServerEvent {
  readonly id: string | null;
  readonly name: string;
  readonly data: string;
}

/** Reads a stream of server-sent events. Comments are skipped. */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let text = '';
  // A reader is used because not every browser can iterate a stream.
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = readBlock(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    await reader.cancel();
  }
}

function readBlock(block: string): ServerEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const colon = line.includes(':') ? line.indexOf(':') : line.length;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    fields.set(name, name === 'data' && fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get('data');
  return data === undefined ? null : { id: fields.get('id') ?? null, name: fields.get('event') ?? 'message', data };
}
