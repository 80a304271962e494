/** The lifetime of one outbound call, all hops included. It ends at its time limit, or when the caller aborts. */
export interface Call {
  /** Why the call has ended; null while it runs. */
  readonly ended: 'timed_out' | 'aborted' | null;
  /** Calls back once when the call ends, or immediately if it has ended. @returns a function that removes the callback */
  onEnd(callback: (reason: Error) => void): () => void;
  /** Removes the timer and the listener. */
  finish(): void;
}

/**
 * Starts a call. It costs less than `AbortSignal.any` with `AbortSignal.timeout`, which cost more than a request to a near
 * upstream.
 */
export function startCall(timeoutMs: number, signal: AbortSignal): Call {
  const callbacks = new Set<(reason: Error) => void>();
  let ended: Call['ended'] = null;

  function end(reason: 'timed_out' | 'aborted'): void {
    if (ended !== null) return;
    ended = reason;
    for (const callback of callbacks) callback(new Error(reason));
    callbacks.clear();
  }
  const onAbort = () => end('aborted');
  const timer = setTimeout(() => end('timed_out'), timeoutMs);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) end('aborted');

  return {
    get ended() {
      return ended;
    },
    onEnd(callback) {
      if (ended !== null) callback(new Error(ended));
      else callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    finish() {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}
