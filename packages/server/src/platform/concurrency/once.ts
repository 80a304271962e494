/** Computes a value at the first call and returns the same value at every later one. */
export function once<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}

/** Computes a value at the first call and caches it. After a failure the next call computes it again. */
export function onceRetried<T>(compute: () => Promise<T>): () => Promise<T> {
  let computed: Promise<T> | undefined;
  return () => {
    computed ??= compute().catch((cause: unknown) => {
      computed = undefined;
      throw cause;
    });
    return computed;
  };
}
