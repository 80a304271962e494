/** What starts can be stopped: `add` in the order of starting, `close` runs in the reverse order, once. */
export interface Closer {
  add(name: string, close: () => Promise<void> | void): void;
  close(): Promise<void>;
}

/** Every part is closed even when an earlier one fails; the failures come together in one AggregateError. */
export function createCloser(): Closer {
  const parts: Array<{ name: string; close: () => Promise<void> | void }> = [];
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const part of parts.reverse()) {
      try {
        await part.close();
      } catch (cause) {
        failures.push(new Error(`closing ${part.name} failed`, { cause }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed');
  }

  return {
    add: (name, close) => {
      parts.push({ name, close });
    },
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}
