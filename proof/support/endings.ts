/** Resources that are closed in reverse order. */
export interface Endings {
  after(end: () => unknown): void;
  /** Closes all of them, the last one first. */
  end(): Promise<void>;
}

export function createEndings(): Endings {
  const ends: Array<() => unknown> = [];
  return {
    after: (end) => void ends.push(end),
    end: async () => {
      for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
    },
  };
}

export async function mapWithConcurrency<T>(
  items: readonly T[],
  width: number,
  act: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const index = next++;
      await act(items[index] as T, index); // the index is within the list
    }
  };
  await Promise.all(Array.from({ length: width }, work));
}
