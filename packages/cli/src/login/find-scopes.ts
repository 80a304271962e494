import { PermissionError, type Quartermaster } from '@quartermaster/client';

/** The scopes that commands need, each with a request that requires it and changes nothing. */
const probes = {
  files: (qm: Quartermaster) => qm.files.list({ limit: 1 }),
  collections: (qm: Quartermaster) => qm.collections.list({ limit: 1 }),
  plugins: (qm: Quartermaster) => qm.runs.list({ limit: 1 }),
} as const;

export type CommandScope = keyof typeof probes;
export const commandScopes = Object.keys(probes) as readonly CommandScope[]; // of the object above

/** Returns the scopes of the key that commands need. @throws AuthenticationError when the key is not valid */
export async function findScopes(qm: Quartermaster): Promise<readonly CommandScope[]> {
  const answers = await Promise.all(commandScopes.map((scope) => isAllowed(probes[scope](qm))));
  return commandScopes.filter((_, at) => answers[at]);
}

async function isAllowed(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof PermissionError) return false;
    throw error;
  }
}
