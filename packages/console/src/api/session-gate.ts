import { useSyncExternalStore } from 'react';

/** Holds calls back from the first answer that says that the session has ended until somebody has signed in again. */
let signIn: PromiseWithResolvers<void> | null = null;
const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

/** Calls wait from now on. */
export function endSession(): void {
  if (signIn !== null) return;
  signIn = Promise.withResolvers<void>();
  tell();
}

/** Sends the calls that wait. */
export function resumeSession(): void {
  signIn?.resolve();
  signIn = null;
  tell();
}

/** Resolves at once, or after the next sign-in. @throws what `signal` was aborted with */
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
