/**
 * Ends the process, because the state of the disk is unknown until the next start recovers it. It must not be caught; `run.ts` logs
 * it once and exits with its code.
 */
export class FatalError extends Error {
  readonly exitCode: number;
  constructor(message: string, options: { readonly exitCode: number; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'FatalError';
    this.exitCode = options.exitCode;
  }
}

/**
 * Closes all resources of the stack in reverse order, even when one of them fails. Later calls have no effect.
 * @throws the error of the failed resource, or an AggregateError with all errors. The stack's own SuppressedError nests them, so
 * that neither the log nor `console.error` shows them.
 */
export async function closeAll(resources: AsyncDisposableStack): Promise<void> {
  try {
    await resources.disposeAsync();
  } catch (error) {
    const errors: unknown[] = [];
    let rest: unknown = error;
    for (; rest instanceof SuppressedError; rest = rest.suppressed) errors.unshift(rest.error);
    errors.unshift(rest);
    throw errors.length === 1 ? rest : new AggregateError(errors, 'several parts could not be closed');
  }
}
