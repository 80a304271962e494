import type { IncomingMessage } from 'node:http';
import { errorCodes } from 'fastify';
import { type MinimumRate, watchRate } from '../concurrency/minimum-rate.ts';
import { Problem } from '../problem.ts';

export interface TextLimits {
  readonly maxBytes: number;
  readonly minimumRate: MinimumRate;
}

/**
 * A request below the minimum rate of uploads is refused with 408. (`files/upload/receive-body.ts` handles uploads.)
 */
const tooSlow = (reason: string) =>
  new Problem('REQUEST_TIMEOUT', `The request body arrived too slowly: ${reason}. Retry the request.`);

/** Reads a whole body as UTF-8. Calls `done` once, with the errors of Fastify's own reader, or with REQUEST_TIMEOUT. */
export function readText(
  request: IncomingMessage,
  { maxBytes, minimumRate }: TextLimits,
  done: (error: Error | null, text: string) => void,
): void {
  const wrongLength = () => new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH();
  if (isTooLong(request, maxBytes)) {
    done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE(), '');
    return;
  }
  if (request.destroyed) {
    done(wrongLength(), '');
    return;
  }
  const declared = request.headers['content-length'];
  const chunks: Buffer[] = [];
  let bytes = 0;
  const watch = watchRate(minimumRate, (reason) => settle(tooSlow(reason)));

  function settle(error: Error | null): void {
    watch.stop();
    request.off('data', onData).off('end', onEnd).off('close', onClose);
    done(error, error === null ? Buffer.concat(chunks, bytes).toString('utf8') : '');
  }
  function onData(chunk: Buffer): void {
    bytes += chunk.length;
    watch.count(chunk.length);
    if (bytes > maxBytes) settle(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    else chunks.push(chunk);
  }
  const onEnd = () => settle(declared === undefined || Number(declared) === bytes ? null : wrongLength());
  const onClose = () => settle(wrongLength());
  request.on('data', onData).on('end', onEnd).on('close', onClose);
}

/** Whether the declared length of a body is above a limit. */
export function isTooLong({ headers }: IncomingMessage, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > maxBytes;
}
