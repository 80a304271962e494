import { printError, printJson } from './output/print.ts';

/** Works on the items one after another. A failure is printed with its item and does not stop the others; it decides the exit code. */
export async function eachItem(items: readonly string[], work: (item: string) => Promise<void>): Promise<void> {
  if (items.length === 1) {
    await work(items[0] ?? '');
    return;
  }
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      const { describeFailure } = await import('./describe-failure.ts');
      const { message, exitCode } = describeFailure(error);
      printError(`quartermaster: ${message.startsWith(item) ? '' : `${item}: `}${message}`);
      process.exitCode ??= exitCode;
    }
  }
}

/** Deletes the objects one after another. @param member the name of their ids in the API */
export async function deleteEach(
  ids: readonly string[],
  { member, json }: { readonly member: string; readonly json: true | undefined },
  remove: (id: string) => PromiseLike<void>,
): Promise<void> {
  await eachItem(ids, async (id) => {
    await remove(id);
    if (json === true) printJson({ [member]: id, deleted: true });
  });
}
