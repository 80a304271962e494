import type { ServerResponse } from 'node:http';

/** The drain, shared by both addresses: connections end with their next answer while the listeners stay open. */
export interface Drain {
  isDraining(): boolean;
  /** Marks the answers in flight, and every later one, with `Connection: close`. */
  begin(): void;
  /** Follows one answer from the start of its request. */
  track(response: ServerResponse): void;
}

export function createDrain(): Drain {
  const inFlight = new Set<ServerResponse>();
  let draining = false;

  function forget(this: ServerResponse): void {
    inFlight.delete(this);
  }

  return {
    isDraining: () => draining,
    begin() {
      draining = true;
      for (const response of inFlight) closeAfterwards(response);
      inFlight.clear();
    },
    track(response) {
      if (draining) return closeAfterwards(response);
      inFlight.add(response);
      response.once('close', forget);
    },
  };
}

/** An answer whose head is on its way has told its client to keep the connection. */
function closeAfterwards(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
