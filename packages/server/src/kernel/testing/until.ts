/** Waits until the condition is true. The time limit of the test file ends a wait that would last forever. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise(setImmediate);
}
