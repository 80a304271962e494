import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';
import { OperatorError } from '../server-process/operator-error.ts';
import { isRunning, type NewNode, type NodeRepository, type StoredNode } from './node-repository.ts';

export interface JoinOptions {
  readonly repository: Pick<NodeRepository, 'list' | 'register'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

const lookEveryMs = 250;

/**
 * Adds a node beside the others of the store.
 * @throws OperatorError when it does not fit a node that runs
 */
export async function joinNodes(node: NewNode, { repository, logger }: JoinOptions): Promise<void> {
  await untilItFits(node, { logger, findUnfit: () => repository.register(node, (other) => fits(node, other)) });
  logger.info({ node: node.id }, 'node registered');
}

/**
 * Checks a node that another step adds.
 * @throws OperatorError when it does not fit a node that runs
 */
export async function assertFits(node: NewNode, { repository, logger }: JoinOptions): Promise<void> {
  const findUnfit = async () =>
    (await repository.list()).find((other) => other.id !== node.id && isRunning(other) && !fits(node, other));
  await untilItFits(node, { logger, findUnfit });
}

interface Search {
  readonly logger: JoinOptions['logger'];
  readonly findUnfit: () => Promise<StoredNode | undefined>;
}

/** Waits for the next heartbeat of a node that does not fit. Without one, the node has ended and is no longer found. */
async function untilItFits(node: NewNode, { logger, findUnfit }: Search): Promise<void> {
  const heartbeats = new Map<string, number>();
  for (;;) {
    const other = await findUnfit();
    if (other === undefined) return;
    const reason = differenceOf(node, other) ?? '';
    const seenAt = heartbeats.get(other.id);
    if (seenAt !== undefined && seenAt !== other.heartbeatAt) throw new OperatorError(reason);
    if (seenAt === undefined)
      logger.warn({ other_node: other.id, reason }, 'start waits for the heartbeat of another node');
    heartbeats.set(other.id, other.heartbeatAt);
    await pause(lookEveryMs);
  }
}

const fits = (node: NewNode, other: StoredNode) => differenceOf(node, other) === undefined;

/** Says how a node does not fit another one, and what to do. Undefined when it fits. */
function differenceOf(node: NewNode, other: StoredNode): string | undefined {
  const it = `node ${other.id} (${other.address || 'starting'}, host ${other.host})`;
  const unlike = Object.entries(node.settings.equal).find(([name, value]) => {
    const found = other.settings.equal[name];
    return found !== undefined && found !== value;
  });
  if (unlike !== undefined) {
    const [name, value] = unlike;
    return `${name} differs between the nodes of this store: ${value} here, ${other.settings.equal[name]} at ${it}. Set the same value, or stop all nodes and start them with the new one.`;
  }
  // Only processes that serve plugins use the keys.
  if (node.serves === 'files' || other.serves === 'files') return undefined;
  const [own, theirs] = [node.settings.encryptionKeys, other.settings.encryptionKeys];
  const [ownFirst = 'none', theirFirst = 'none'] = [own[0], theirs[0]];
  if (ownFirst === theirFirst || (own.includes(theirFirst) && theirs.includes(ownFirst))) return undefined;
  return `The encryption keys differ between the nodes of this store: this process encrypts with ${ownFirst}, and ${it} with ${theirFirst}. Set QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE to the keys of the other nodes. To change the key, first add the new one as the last on every node, one after another, then make it the first.`;
}
