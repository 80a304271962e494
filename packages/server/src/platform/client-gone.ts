import type { ServerResponse } from 'node:http';

/** The response to one request, as Fastify passes it to the routes. */
export interface PendingReply {
  readonly raw: ServerResponse;
  /** Tells Fastify to send nothing. */
  hijack(): unknown;
}

/** Aborts when the client disconnects before it has received a response. */
export function abortedWhenGone({ raw }: PendingReply): AbortController {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller;
}

/** Works for one client. The signal aborts when the client disconnects, and then no response is sent. */
export async function whileConnected<Result>(
  reply: PendingReply,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const { signal } = abortedWhenGone(reply);
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    reply.hijack();
    return undefined;
  }
}
