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
