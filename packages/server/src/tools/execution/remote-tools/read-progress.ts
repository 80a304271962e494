import type { RunProgress } from '../run.ts';
import { readEvents } from './mcp-messages.ts';

/** Bounds of the progress of one call. */
export const progressLimits = {
  /** The maximum number of characters of one event. Longer events, such as the result, are skipped. */
  event: 16 * 1024,
  /** Events that are read; later ones are passed over. */
  events: 1000,
  message: 500,
} as const;

/**
 * Creates a reader of an event stream that reports the progress of a call while the answer arrives. Other events are passed
 * over.
 */
export function createProgressReader(
  token: number,
  onProgress: (progress: RunProgress) => void,
): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let rest = '';
  let isLong = false;
  let events = 0;
  return (chunk) => {
    if (events >= progressLimits.events) return;
    rest += decoder.decode(chunk, { stream: true });
    for (let end = endOf(rest); end !== undefined; end = endOf(rest)) {
      const progress =
        isLong || end.from > progressLimits.event ? undefined : readProgress(rest.slice(0, end.to), token);
      if (progress !== undefined) onProgress(progress);
      rest = rest.slice(end.to);
      isLong = false;
      events += 1;
    }
    if (rest.length <= progressLimits.event) return;
    // Keeps what may be the start of a blank line.
    rest = rest.slice(-3);
    isLong = true;
  };
}

/** The blank line that ends an event. */
function endOf(text: string): { readonly from: number; readonly to: number } | undefined {
  const match = /(?:\r\n|\n|\r(?!\n)){2}/.exec(text);
  return match === null ? undefined : { from: match.index, to: match.index + match[0].length };
}

function readProgress(event: string, token: number): RunProgress | undefined {
  if (!event.includes('notifications/progress')) return undefined;
  const [notification] = readEvents(event);
  const { method, params } = Object(notification);
  const { progressToken, progress, total, message } = Object(params);
  if (method !== 'notifications/progress' || progressToken !== token) return undefined;
  if (!Number.isFinite(progress) || progress < 0) return undefined;
  const hasTotal = Number.isFinite(total) && total > 0;
  return {
    fraction: hasTotal ? Math.min(1, progress / total) : 0,
    message: typeof message === 'string' ? message.slice(0, progressLimits.message) : undefined,
    steps: { progress, ...(hasTotal ? { total } : {}) },
  };
}
