/**
 * Closes what the stack holds, in the reverse order of opening, each part even when another one fails. Once: a later call resolves
 * at once.
 * @throws the error of the part that failed, or an AggregateError with the errors of all. The stack's own SuppressedError
 * nests them where neither the log nor `console.error` shows them.
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
