import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The shutdown of both addresses: connections end with their next response while the listeners stay open. */
export interface Drain {
  isDraining(): boolean;
  /** Adds `Connection: close` to the responses in progress and to every later one. */
  begin(): void;
  /** Tracks one response from the start of its request. */
  track(response: ServerResponse): void;
}

export function createDrain(): Drain {
  // The map is keyed by connection. A set with an entry for each request would delay the collection of finished
  // responses.
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

/** Marks the response unless its head was sent, which has promised to keep the connection open. */
function closeAfterwards(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
