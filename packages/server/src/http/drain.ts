import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The end of serving, shared by both addresses: connections end with their next answer while the listeners stay open. */
export interface Drain {
  isDraining(): boolean;
  /** Marks the answers in flight, and every later one, with `Connection: close`. */
  begin(): void;
  /** Follows one answer from the start of its request. */
  track(response: ServerResponse): void;
}

export function createDrain(): Drain {
  // By connection, not by answer: a set with a new entry for each request keeps dead answers from being collected early.
  const latest = new Map<Socket, ServerResponse>();
  let draining = false;

  return {
    isDraining: () => draining,
    begin() {
      draining = true;
      for (const response of latest.values()) closeAfterwards(response);
      latest.clear();
    },
    track(response) {
      if (draining) return closeAfterwards(response);
      const { socket } = response.req;
      if (!latest.has(socket)) socket.once('close', () => latest.delete(socket));
      latest.set(socket, response);
    },
  };
}

/** An answer whose head is on its way has told its client to keep the connection. */
function closeAfterwards(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
