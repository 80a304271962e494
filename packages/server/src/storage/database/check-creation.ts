import type { DatabaseSettings } from './database.ts';

/**
 * Calls `beforeCreation` while there is no store. Another process may create the store and claim its content meanwhile. The refusal
 * then concerns that store, which is this one, so it is ignored.
 */
export async function checkCreation(
  { beforeCreation }: Pick<DatabaseSettings, 'beforeCreation'>,
  hasStore: () => Promise<boolean>,
): Promise<void> {
  if (beforeCreation === undefined || (await hasStore())) return;
  await beforeCreation().catch(async (error: unknown) => {
    if (!(await hasStore())) throw error;
  });
}
