import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a condition and throws after 20 s. */
export async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} did not come about`);
    await pause(5);
  }
}
