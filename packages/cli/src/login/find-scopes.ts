import { PermissionError, type Quartermaster } from '@quartermaster/client';
import { type Scope, scopes } from '@quartermaster/contract/scopes';

/** Each scope with a request that requires it and changes nothing. */
const probes: Readonly<Record<Scope, (qm: Quartermaster) => Promise<unknown>>> = {
  files: (qm) => qm.files.list({ limit: 1 }),
  collections: (qm) => qm.collections.list({ limit: 1 }),
  plugins: (qm) => qm.runs.list({ limit: 1 }),
  // An answer that is not read would keep the process alive until the service closes the connection.
  metrics: async (qm) => (await qm.service.metrics()).body?.cancel(),
  admin: (qm) => qm.projects.list({ limit: 1 }),
};

/** The scopes that commands require. */
export const commandScopes: readonly Scope[] = ['files', 'collections', 'plugins'];

/** Returns all scopes of the key. @throws AuthenticationError when the key is not valid */
export async function findScopes(qm: Quartermaster): Promise<readonly Scope[]> {
  const answers = await Promise.all(scopes.map((scope) => isAllowed(probes[scope](qm))));
  return scopes.filter((_, at) => answers[at]);
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
