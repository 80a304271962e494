import { FatalError } from '../server-process/fatal-error.ts';
import { OperatorError } from '../server-process/operator-error.ts';
import type { StoredNode } from './node-repository.ts';

/** @param leaseMs the milliseconds after which a node without a heartbeat counts as ended */
export function servedByAnotherNode(folder: string, node: StoredNode, leaseMs: number): OperatorError {
  const { id, host, version, startedAt, silentFor } = node;
  const seen = Math.max(0, Math.round(silentFor / 1000));
  return new OperatorError(
    `Another process serves the files of this database from a copy of the data folder ${folder}: node ${id} on the host ${host}, version ${version}, started ${new Date(startedAt).toISOString()}, last seen ${seen} s ago. Two folders would lose each other's files. Stop that process, and start this one again. If its machine has failed, this start succeeds ${leaseMs / 1000} s after the last heartbeat. Set QUARTERMASTER_SERVE=plugins for a further process.`,
  );
}

/** EX_TEMPFAIL of sysexits.h. A new start finds out whether another process serves the store. */
const exitAfterLoss = 75;

/** @param by the node that replaced this one; undefined when its row was deleted */
export function nodeLost(by: StoredNode | undefined): FatalError {
  const other = by === undefined ? 'its row was deleted' : `node ${by.id} on the host ${by.host} replaced it`;
  return new FatalError(
    `node lost: ${other}. This process wrote no heartbeat for too long, for example because it was paused. It exits so that two data folders do not serve one database.`,
    { exitCode: exitAfterLoss },
  );
}
