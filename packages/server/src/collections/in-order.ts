export interface InOrder {
  /**
   * `prepare` begins when that of the piece before has ended, `finish` when that of the piece before has: so one piece is
   * made ready while the other is done. After a failure nothing begins any more, and all that is left fails alike.
   */
  add<Ready>(prepare: () => Promise<Ready>, finish: (ready: Ready) => Promise<void>): Promise<void>;
  /** Resolves when nothing is under way, failed or not. */
  idle(): Promise<void>;
}

/** Does pieces of work in the order in which they come, in two steps. `onFailure` is told of the first failure. */
export function createInOrder(onFailure: (cause: unknown) => void = () => {}): InOrder {
  let ready: Promise<unknown> = Promise.resolve();
  let done = Promise.resolve();
  let failed = false;
  return {
    add: (prepare, finish) => {
      const before = done;
      const made = ready.then(prepare);
      ready = made;
      // Should it fail while the piece before is still being done, that is waited for all the same.
      made.catch(() => undefined);
      done = before.then(async () => finish(await made));
      done.catch((cause: unknown) => {
        if (!failed) onFailure(cause);
        failed = true;
      });
      return done;
    },
    idle: () => done.catch(() => undefined),
  };
}
