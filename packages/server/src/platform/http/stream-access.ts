import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../log/logger.ts';
import { accessEvent, type ReceivedRequest, standingOf } from '../log/request-identity.ts';

export interface StreamAccessDeps {
  /**
   * @param owners what opened streams: ids of keys, and sessions and grants with the rights that they had
   * @returns those that are still usable, with the same rights
   */
  readonly findUsable: (owners: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly logger: Logger;
  /** Milliseconds between checks. */
  readonly intervalMs?: number;
}

/**
 * Ends event streams within a second after the key or session that opened them has ended, or its person has other rights. It ends all streams when the
 * database has not answered for 25 checks (10 s), because a key may have been revoked in the meantime.
 */
export interface StreamAccess {
  /** Watches the response to a request until it is closed. Requests without a key or session are not watched. */
  watch(request: ReceivedRequest, response: ServerResponse): void;
  close(): void;
}

interface Watched {
  readonly owner: string;
  readonly event: ReturnType<typeof accessEvent>;
}

const defaultIntervalMs = 400;
/** The limit counts intervals instead of time, because a blocked event loop cannot query the database. */
const mostUnchecked = 25;

/** One query per interval for all open streams also finds keys and sessions that other processes have ended. */
export function createStreamAccess({ findUsable, logger, intervalMs }: StreamAccessDeps): StreamAccess {
  const open = new Map<ServerResponse<IncomingMessage>, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;
  /** The number of intervals since the last successful check. */
  let unchecked = 0;

  async function check(): Promise<void> {
    const checked = new Set([...open.values()].map(({ owner }) => owner));
    const usable = await findUsable([...checked]);
    unchecked = 0;
    for (const [response, { owner, event }] of open) {
      // The next check includes a stream that was opened in the meantime.
      if (!checked.has(owner) || usable.has(owner)) continue;
      logger.info(event, 'stream ended: its key or session has ended');
      response.destroy();
    }
  }
  function endAll(): void {
    for (const [response, { event }] of open) {
      logger.warn(event, 'stream ended: its key or session could not be checked');
      response.destroy();
    }
  }
  function tick(): void {
    unchecked += 1;
    if (unchecked > mostUnchecked) endAll();
    if (isChecking) return;
    isChecking = true;
    check()
      .catch((error: unknown) => logger.warn({ err: error }, 'stream access not checked'))
      .finally(() => {
        isChecking = false;
      });
  }
  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    unchecked = 0;
  }

  return {
    watch: (request, response) => {
      const event = accessEvent('stream_ended', request);
      const owner = standingOf(request) ?? event.key;
      if (owner === undefined || response.destroyed) return;
      open.set(response, { owner, event });
      timer ??= setInterval(tick, intervalMs ?? defaultIntervalMs).unref();
      response.once('close', () => {
        open.delete(response);
        if (open.size === 0) stop();
      });
    },
    close: stop,
  };
}
