import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';

/** Reads the response to the request `id`: one message, or a stream of events that may start with other messages. */
export async function* readMessages(response: Response, id: RequestId): AsyncGenerator<JSONRPCMessage> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) yield* readEvents(response);
  else yield toMessage(response.status, await response.text(), id);
}

/** Converts a response outside the protocol (a wrong key, an unknown bundle) to an error of the request. */
function toMessage(status: number, text: string, id: RequestId): JSONRPCMessage {
  const body: unknown = parse(text);
  const error: unknown = Reflect.get(Object(body), 'error');
  if (Reflect.get(Object(body), 'jsonrpc') === '2.0') {
    // The service may not know the id of a message that it refused. Here there is only one.
    return { ...(body as JSONRPCMessage), ...(error === undefined ? {} : { id }) } as JSONRPCMessage;
  }
  const { code, message } = Object(error) as { code?: string; message?: string };
  const reason = message === undefined ? `The service answered with status ${status}.` : `${code}: ${message}`;
  return { jsonrpc: '2.0', id, error: { code: -32_000, message: reason } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Yields the `data` of each event. Comments, which keep the connection alive, have none. */
async function* readEvents(response: Response): AsyncGenerator<JSONRPCMessage> {
  let pending = '';
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const events = (pending + chunk).split('\n\n');
    pending = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').filter((line) => line.startsWith('data:'));
      // The data of an event is always a message.
      if (data.length > 0) yield JSON.parse(data.map((line) => line.slice(5).trim()).join('\n')) as JSONRPCMessage;
    }
  }
}
