import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';
import { FatalError } from '../server-process/fatal-error.ts';
import { OperatorError } from '../server-process/operator-error.ts';
import { leaseMs, type NewNode, type NodeRepository, type StoredNode } from './node-repository.ts';

/** The data folder of the process, which `store.json` identifies. */
export interface ClaimedFolder {
  readonly path: string;
  readonly id: string;
  /** Writes the new id beside the present one, which stays valid. */
  prepareId(newId: string): Promise<void>;
  /** Removes the former id. */
  finishId(newId: string): Promise<void>;
}

export interface ClaimOptions {
  readonly repository: NodeRepository;
  readonly folder: ClaimedFolder;
  /**
   * True when the database is in the folder. The lock of the folder then proves that no other process uses the
   * database.
   */
  readonly isDatabaseInFolder: boolean;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

const lookEveryMs = 250;

/**
 * Makes this process the one that serves the files of the store. The caller holds the lock of the folder, so a node of
 * the same folder has ended and is replaced at once. A node of a copy of the folder is replaced when it has stopped, or
 * when it has written no heartbeat for `leaseMs`. The folder then gets a new id, so that the other copy is refused from
 * now on. After a clean stop and a restart of the machine, the folder keeps its id. Source: ADR 0164.
 * @throws OperatorError when a process with another folder is alive
 */
export async function claimNode(node: NewNode, options: ClaimOptions): Promise<void> {
  const { repository, folder, isDatabaseInFolder, logger } = options;
  let first: { readonly node: StoredNode; readonly at: number } | undefined;
  for (;;) {
    const found = await repository.find();
    const isSameFolder = isDatabaseInFolder || found?.folderInstance === node.folderInstance;
    if (found !== undefined && !isSameFolder && found.stoppedAt === null) {
      const isFirst = first === undefined;
      first ??= { node: found, at: performance.now() };
      if (found.id !== first.node.id || found.heartbeatAt !== first.node.heartbeatAt) {
        throw servedByAnotherNode(folder.path, found);
      }
      const isSilent = found.silentFor >= leaseMs || performance.now() - first.at >= leaseMs;
      if (!isSilent) {
        const { id, host, silentFor } = found;
        const about = { other_node: id, other_host: host, silent_ms: silentFor, lease_ms: leaseMs };
        if (isFirst) logger.warn(about, 'start waits for the heartbeat of another node');
        await pause(lookEveryMs);
        continue;
      }
    }
    const isRestarted = found?.stoppedAt !== null && placeOf(found) === placeOf(node);
    const isMoved = found !== undefined && !isSameFolder && !isRestarted;
    const to = isMoved ? randomUUID() : folder.id;
    if (isMoved) await folder.prepareId(to);
    if (!(await repository.claim(node, { replaced: found, folderId: { from: folder.id, to } }))) continue;
    if (isMoved) await folder.finishId(to);
    logger.info({ node: node.id, replaced_node: found?.id, folder_moved: isMoved }, 'node registered');
    return;
  }
}

/** The part of the folder instance that a restart of the machine keeps. Instances of earlier versions have no parts. */
function placeOf(node: Pick<NewNode, 'folderInstance'> | undefined): string | undefined {
  return node?.folderInstance.split('.')[0];
}

function servedByAnotherNode(folder: string, node: StoredNode): OperatorError {
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
