import type { withAdministration as openAdministration } from '@quartermaster/server/administration';

/** Opens the store of the settings. It loads the server first, because other commands start faster without it. */
export const withAdministration: typeof openAdministration = async (work) => {
  const administration = await import('@quartermaster/server/administration');
  return await administration.withAdministration(work);
};
