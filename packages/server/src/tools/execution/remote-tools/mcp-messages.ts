import { parseExactJson } from '../../../platform/json/exact-json.ts';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import { decodeText } from '../upstream-answers/body.ts';

/** The response to a JSON-RPC request. */
export type McpReply = { readonly result: Readonly<Record<string, unknown>> } | { readonly error: McpError };

/** A JSON-RPC error. */
export interface McpError {
  readonly code: number;
  readonly message: string;
}

/**
 * Finds the response to request `id` in an HTTP answer of the Streamable HTTP transport. The answer is JSON or an event
 * stream. null when it holds no such response.
 */
export function findReply(body: Buffer, contentType: string | undefined, id: number): McpReply | null {
  const text = decodeText(body, contentType);
  const isStream = /^text\/event-stream\b/i.test(contentType ?? '');
  const messages = isStream ? eventsOf(text).map(parsed) : [parsed(text)].flat();
  for (const message of messages) {
    const { id: answered, result, error } = Object(message);
    if (answered !== id) continue;
    if (isJsonObject(result)) return { result };
    const { code, message: words } = Object(error);
    if (Number.isInteger(code)) return { error: { code, message: typeof words === 'string' ? words : '' } };
  }
  return null;
}

/** Parses the data of each event of a stream. */
export function readEvents(text: string): unknown[] {
  return eventsOf(text).map(parsed);
}

/** Returns the data of each event (HTML Standard, "Interpreting an event stream"). */
function eventsOf(text: string): string[] {
  return text.split(/(?:\r\n?|\n){2}/).flatMap((event) => {
    const data = event
      .split(/\r\n?|\n/)
      .flatMap((line) => (/^data:/.test(line) ? [line.slice(5).replace(/^ /, '')] : []));
    return data.length === 0 ? [] : [data.join('\n')];
  });
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return null;
  }
}
