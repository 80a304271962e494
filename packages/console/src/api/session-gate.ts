import { useSyncExternalStore } from 'react';

/** Set while calls wait: from the first answer that reports the end of the session until the next sign-in. */
let signIn: PromiseWithResolvers<void> | null = null;
const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

/** Makes all further calls wait. */
export function endSession(): void {
  if (signIn !== null) return;
  signIn = Promise.withResolvers<void>();
  tell();
}

/** Ends the wait, so that waiting calls are sent. */
export function resumeSession(): void {
  signIn?.resolve();
  signIn = null;
  tell();
}

/** Resolves immediately, or after the next sign-in. @throws what `signal` was aborted with */
export async function untilSignedIn(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (signIn === null) return;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([signIn.promise, aborted.promise]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** Whether calls wait for a sign-in. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => signIn !== null,
  );
}
