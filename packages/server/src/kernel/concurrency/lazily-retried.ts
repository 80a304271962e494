/** Makes something when it is first asked for, and keeps it; after a failure the next caller tries again. */
export function lazilyRetried<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((cause: unknown) => {
      made = undefined;
      throw cause;
    });
    return made;
  };
}
