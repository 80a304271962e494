import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';

/** What a service answers to the request `id`: one message, or a stream of events with some before it. */
export async function* readMessages(response: Response, id: RequestId): AsyncGenerator<JSONRPCMessage> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) yield* readEvents(response);
  else yield toMessage(response.status, await response.text(), id);
}

/** An answer that is no message of the protocol (a wrong key, no such bundle) becomes an error of the request. */
function toMessage(status: number, text: string, id: RequestId): JSONRPCMessage {
  const body: unknown = parse(text);
  const error: unknown = Reflect.get(Object(body), 'error');
  if (Reflect.get(Object(body), 'jsonrpc') === '2.0') {
    // The service cannot always tell whose message it refused; here there is only one.
    return { ...(body as JSONRPCMessage), ...(error === undefined ? {} : { id }) } as JSONRPCMessage;
  }
  const { code, message } = Object(error) as { code?: string; message?: string };
  const said = message === undefined ? `The service answered with status ${status}.` : `${code}: ${message}`;
  return { jsonrpc: '2.0', id, error: { code: -32_000, message: said } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The `data` of each event; comments, which keep the connection alive, have none. */
async function* readEvents(response: Response): AsyncGenerator<JSONRPCMessage> {
  let pending = '';
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const events = (pending + chunk).split('\n\n');
    pending = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').filter((line) => line.startsWith('data:'));
      // The service writes nothing else into the data of an event.
      if (data.length > 0) yield JSON.parse(data.map((line) => line.slice(5).trim()).join('\n')) as JSONRPCMessage;
    }
  }
}
