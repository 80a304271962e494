/** One server-sent event. */
export interface ServerEvent {
  readonly id: string | null;
  readonly name: string;
  readonly data: string;
}

/** The maximum number of characters of one event. */
const mostCharacters = 16 * 1024 * 1024;

/**
 * Reads a stream of server-sent events. Comments and `retry` are skipped. An event that the stream cuts off is dropped.
 * @param onBytes called for each piece that arrives, comments included
 * @throws Error for an event that is too long
 */
export async function* readServerEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => undefined,
): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const event = createEventBuilder();
  let rest = '';
  // A reader is used because not every browser can iterate a stream.
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      onBytes();
      const lines = (rest + decoder.decode(part.value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      if (rest.length > mostCharacters) throw new Error(`An event is longer than ${mostCharacters} characters.`);
      for (const line of lines) {
        const complete = event.add(line);
        if (complete !== null) yield complete;
      }
    }
  } finally {
    await reader.cancel();
  }
}

function createEventBuilder() {
  let fields = new Map<string, string>();
  let length = 0;

  /** @returns the event that an empty line completes, if it has data */
  function add(line: string): ServerEvent | null {
    if (line === '') return complete();
    length += line.length;
    if (length > mostCharacters) throw new Error(`An event is longer than ${mostCharacters} characters.`);
    const colon = line.includes(':') ? line.indexOf(':') : line.length;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    fields.set(name, name === 'data' && fields.has(name) ? `${fields.get(name)}\n${value}` : value);
    return null;
  }

  function complete(): ServerEvent | null {
    const data = fields.get('data');
    const event = { id: fields.get('id') ?? null, name: fields.get('event') ?? 'message', data: data ?? '' };
    fields = new Map();
    length = 0;
    return data === undefined ? null : event;
  }

  return { add };
}
