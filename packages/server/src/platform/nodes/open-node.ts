import { type RunningTask, startPeriodicTask } from '../concurrency/periodic-task.ts';
import type { Logger } from '../log/logger.ts';
import { Gauge, type Registry } from '../metrics.ts';
import { nodeLost } from './claim-node.ts';
import type { NodeRepository } from './node-repository.ts';

/** Refuses changes of a process that may have been replaced. */
export interface ChangeFence {
  /** Allows changes until this time of `performance.now()`. */
  allowUntil(time: number): void;
  /** @param refused is called when a change was refused */
  onRefused(refused: () => void): void;
}

/** Milliseconds without a heartbeat after which another process may replace the node. */
export const leaseMs = 15_000;
/** Milliseconds between two heartbeats. */
const heartbeatMs = 5_000;
/**
 * Milliseconds after its last heartbeat in which a process may send changes. The rest of the lease covers their way to
 * the database.
 */
const changesMs = 10_000;

export interface NodeOptions {
  readonly nodeId: string;
  readonly repository: NodeRepository;
  /** Undefined when no other process can replace this one. It then writes no heartbeats. */
  readonly fence: ChangeFence | undefined;
  readonly logger: Logger;
  readonly metrics: Registry;
}

/** Writes the heartbeats of a registered node until it is closed. The process ends when another node has replaced it. */
export async function openNode(options: NodeOptions): Promise<Pick<RunningTask, 'close'>> {
  const { nodeId, repository, fence, logger, metrics } = options;
  let renewedAt = performance.now();
  let isOverdue = false;

  async function renew(signal: AbortSignal): Promise<void> {
    const sentAt = performance.now();
    const isHeld = await repository.renew(nodeId);
    if (!isHeld && !signal.aborted) return end(await repository.find());
    renewedAt = sentAt;
    fence?.allowUntil(sentAt + changesMs);
    if (isOverdue) logger.info({ node: nodeId }, 'node heartbeat written again');
    isOverdue = false;
  }

  /** No code catches this error: `run.ts` logs it and ends the process with its code. */
  function end(replacedBy: Awaited<ReturnType<NodeRepository['find']>>): void {
    setImmediate(() => {
      throw nodeLost(replacedBy);
    });
  }

  fence?.allowUntil(renewedAt + changesMs);
  const startHeartbeats = () =>
    startPeriodicTask({ name: 'node heartbeat', pause: heartbeatMs, run: renew }, (error) => {
      if (!isOverdue) logger.warn({ err: error, node: nodeId }, 'node heartbeat not written');
      isOverdue = true;
    });
  const heartbeats = fence === undefined ? undefined : startHeartbeats();
  if (heartbeats !== undefined) fence?.onRefused(heartbeats.trigger);
  new Gauge({
    name: 'quartermaster_node_heartbeat_age_seconds',
    help: 'Seconds since the last heartbeat of this process as the one that serves the files of the store.',
    registers: [metrics],
    collect() {
      if (heartbeats !== undefined) this.set((performance.now() - renewedAt) / 1000);
    },
  });
  return {
    async close() {
      await heartbeats?.close();
      await repository.stop(nodeId).catch((error) => logger.warn({ err: error, node: nodeId }, 'node stop not stored'));
    },
  };
}
