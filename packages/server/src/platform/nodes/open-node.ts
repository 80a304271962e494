import { type PeriodicTask, startPeriodicTask } from '../concurrency/periodic-task.ts';
import type { Logger } from '../log/logger.ts';
import { Gauge, type Registry } from '../metrics.ts';
import { nodeLost } from './claim-node.ts';
import type { NodeFacts, NodeRepository } from './node-repository.ts';

/** Refuses changes of a process that may have been replaced. */
export interface ChangeFence {
  /** Allows changes until this time of `performance.now()`. */
  allowUntil(time: number): void;
  /** @param refused is called when a change is late. Its promise ends with the heartbeat that this triggers */
  onRefused(refused: () => Promise<void> | void): void;
}

/** Milliseconds between two heartbeats. */
const heartbeatMs = 2_000;
/**
 * Milliseconds after its last heartbeat in which a process may send changes. The rest of the lease covers their way to
 * the database.
 */
const changesMs = 10_000;

export interface NodeOptions {
  readonly nodeId: string;
  readonly repository: NodeRepository;
  readonly logger: Logger;
  readonly metrics: Registry;
  /**
   * `shared`: any number of nodes serve the store, and one whose row is gone registers again. `folder`: only one process may serve
   * its data folder, so it ends when another one has replaced it. `alone`: no other process uses the database, so the node writes
   * no heartbeats.
   */
  readonly kind: 'shared' | 'folder' | 'alone';
  /** Refuses changes of a node of the kind `folder` that is late. */
  readonly fence?: ChangeFence | undefined;
  /** Adds the row of a shared node again. */
  readonly rejoin?: () => Promise<void>;
}

/** A process of the store. */
export interface OpenedNode {
  /** The id of its row; null without one. */
  readonly id: string | null;
  /** Tells the other nodes and the operator what this one is. */
  publish(facts: NodeFacts): Promise<void>;
  /** Limits a task to the node that leads it. Another node takes over when the leader has ended. Source: ADR 0164. */
  ofLeader(task: PeriodicTask): PeriodicTask;
  close(): Promise<void>;
}

/** Writes the heartbeats of a registered node until it is closed. */
export async function openNode(options: NodeOptions): Promise<OpenedNode> {
  const { nodeId, repository, kind, logger, metrics } = options;
  const fence = kind === 'folder' ? options.fence : undefined;
  let renewedAt = performance.now();
  let running = 1;
  let isOverdue = false;
  let facts: NodeFacts | undefined;
  let isPublished = false;
  let renewal = Promise.withResolvers<void>();
  /** The tasks that this node leads, as the database confirmed since the last heartbeat. */
  const led = new Set<string>();

  async function renew(signal: AbortSignal): Promise<void> {
    const sentAt = performance.now();
    led.clear();
    const found = await repository.renew(nodeId);
    if (found === undefined && !signal.aborted) {
      if (kind === 'folder') return end(await repository.find());
      await options.rejoin?.();
      isPublished = false;
    }
    await publishFacts();
    running = found ?? running;
    renewedAt = sentAt;
    fence?.allowUntil(sentAt + changesMs);
    if (isOverdue) logger.info({ node: nodeId }, 'node heartbeat written again');
    isOverdue = false;
  }

  async function publishFacts(): Promise<void> {
    if (facts === undefined || isPublished) return;
    await repository.publish(nodeId, facts);
    isPublished = true;
  }

  /** No code catches this error: `run.ts` logs it and ends the process with its code. */
  function end(replacedBy: Awaited<ReturnType<NodeRepository['find']>>): void {
    setImmediate(() => {
      throw nodeLost(replacedBy);
    });
  }

  fence?.allowUntil(renewedAt + changesMs);
  const startHeartbeats = () =>
    startPeriodicTask({ name: 'node heartbeat', pause: heartbeatMs, run: renewOnce }, (error) => {
      if (!isOverdue) logger.warn({ err: error, node: nodeId }, 'node heartbeat not written');
      isOverdue = true;
    });
  const renewOnce = async (signal: AbortSignal) => {
    try {
      await renew(signal);
    } finally {
      renewal.resolve();
      renewal = Promise.withResolvers();
    }
  };
  const heartbeats = kind === 'alone' ? undefined : startHeartbeats();
  fence?.onRefused(() => {
    heartbeats?.trigger();
    return renewal.promise;
  });
  openNodeMetrics(metrics, () => ({ running, ageMs: heartbeats === undefined ? 0 : performance.now() - renewedAt }));
  return {
    id: nodeId,
    async publish(published) {
      facts = published;
      // A start does not fail for it. The next heartbeat repeats it.
      await publishFacts().catch((error) => logger.warn({ err: error, node: nodeId }, 'node facts not stored'));
    },
    ofLeader(task) {
      if (kind === 'alone') return task;
      const run = async (signal: AbortSignal) => {
        if (!led.has(task.name)) {
          if (!(await repository.lead(task.name, nodeId))) return;
          led.add(task.name);
        }
        await task.run(signal);
      };
      return { ...task, run };
    },
    async close() {
      await heartbeats?.close();
      await repository.stop(nodeId).catch((error) => logger.warn({ err: error, node: nodeId }, 'node stop not stored'));
    },
  };
}

function openNodeMetrics(metrics: Registry, state: () => { readonly running: number; readonly ageMs: number }): void {
  new Gauge({
    name: 'quartermaster_node_heartbeat_age_seconds',
    help: 'Seconds since the last heartbeat of this process as a node of the store.',
    registers: [metrics],
    collect() {
      this.set(state().ageMs / 1000);
    },
  });
  new Gauge({
    name: 'quartermaster_nodes',
    help: 'Running nodes of the store, as this one saw them with its last heartbeat.',
    registers: [metrics],
    collect() {
      this.set(state().running);
    },
  });
}
