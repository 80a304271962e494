import { connectionMember } from '@quartermaster/contract';
import type { ResolveCredentials } from '../credential-profiles/resolve-credentials.ts';
import { apiKeyRejected, scopeMissing } from '../projects/problems.ts';
import type { ConnectionRows } from './connection-rows.ts';
import { connectionReferenceInvalid } from './problems.ts';
import type { UsedConnections } from './refresh-connection.ts';

/** Resolves `{"$connection": "id"}`: only the id names a connection, and only callers of its project that may use connections. */
export function createResolveConnection(
  rows: Pick<ConnectionRows, 'get'>,
  { use, renewOf }: UsedConnections,
): ResolveCredentials {
  return async ({ projectId, permissions }, bundleId, given) => {
    if (projectId === null) throw apiKeyRejected();
    const { [connectionMember]: id, ...others } = given;
    if (typeof id !== 'string') {
      throw connectionReferenceInvalid('a value that is not a string', 'the id of a connection');
    }
    if (Object.keys(others).length > 0) {
      throw connectionReferenceInvalid('other members too', 'the only member of credentials');
    }
    if (permissions?.has('connections') === false) throw scopeMissing('connections');
    const row = await rows.get(projectId, id, permissions);
    if (row.bundleId !== bundleId) {
      const bundle = JSON.stringify(bundleId.slice(0, 64));
      throw connectionReferenceInvalid('a connection of another bundle', `a connection of the bundle ${bundle}`);
    }
    const credentials = await use(row);
    return { credentials, renew: renewOf(row) };
  };
}
