import { setImmediate as nextTurn } from 'node:timers/promises';
import { isInitializeRequest, isJSONRPCRequest, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { maxBatchAnswerBytes } from './batch-limits.ts';

export interface McpAnswer {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  /** A stream for events, and for lists that are cached compressed. */
  readonly body: Buffer | ReadableStream | null;
}

/** Whether the messages of a batch can be answered separately. The SDK refuses every other batch as a whole. */
export function isOrdinaryBatch(message: unknown): message is readonly unknown[] {
  return Array.isArray(message) && message.length > 0 && message.every((one) => isMessage(one));
}

function isMessage(message: unknown): boolean {
  try {
    return !isInitializeRequest(parseJSONRPCMessage(message));
  } catch {
    return false;
  }
}

/**
 * Answers the messages of a batch sequentially, each as if it had been sent alone. So the total size of the answers is bounded, and
 * other requests run between two messages. When the answers exceed {@link maxBatchAnswerBytes}, each remaining request is answered
 * with a JSON-RPC error.
 * @param answerOne returns an answer that is not a stream of events
 * @returns an answer of status 400 or above when the HTTP request of a message is refused
 */
export async function answerBatch(
  messages: readonly unknown[],
  answerOne: (message: unknown) => Promise<McpAnswer>,
): Promise<McpAnswer> {
  const answers: Buffer[] = [];
  let bytes = 0;
  for (const message of messages) {
    if (bytes > maxBatchAnswerBytes) {
      if (isJSONRPCRequest(message)) answers.push(refusalOf(message.id));
      continue;
    }
    const { status, headers, body } = await answerOne(message);
    if (status >= 400) return { status, headers, body };
    if (body === null) continue;
    const answer = Buffer.isBuffer(body) ? body : Buffer.from(await new Response(body).arrayBuffer());
    answers.push(answer);
    bytes += answer.length;
    await nextTurn();
  }
  if (answers.length === 0) return { status: 202, headers: [], body: null };
  const whole = answers.flatMap((answer, index) => [Buffer.from(index === 0 ? '[' : ','), answer]);
  const headers = [['content-type', 'application/json']] as const;
  return { status: 200, headers, body: Buffer.concat([...whole, Buffer.from(']')]) };
}

function refusalOf(id: string | number): Buffer {
  const reason = `the answers before it in the batch have more than ${maxBatchAnswerBytes} bytes. Send it in another request.`;
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: `Not run: ${reason}` } }));
}
