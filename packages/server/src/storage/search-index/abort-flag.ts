/** Passes shared memory to the work. It contains 1 as soon as the signal aborts, also while a thread computes. */
export async function withSharedFlag<Result>(
  signal: AbortSignal,
  work: (flag: Int32Array) => Promise<Result>,
): Promise<Result> {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const raise = () => Atomics.store(flag, 0, 1);
  if (signal.aborted) raise();
  signal.addEventListener('abort', raise, { once: true });
  try {
    return await work(flag);
  } finally {
    signal.removeEventListener('abort', raise);
  }
}
