import { systemClock } from '../../platform/clock.ts';
import type { ChangeFence } from '../../platform/nodes/open-node.ts';
import { changesFenced } from '../database/problems.ts';

export interface PostgresFence extends ChangeFence {
  /** @throws SERVICE_UNAVAILABLE while changes are not allowed */
  assert(): void;
}

/**
 * Allows changes until a time that each heartbeat of the node extends. Both clocks are compared, because the monotonic
 * one stands still while a virtual machine is suspended.
 */
export function createChangeFence(): PostgresFence {
  let monotonicEnd = Number.POSITIVE_INFINITY;
  let wallEnd = Number.POSITIVE_INFINITY;
  let refused = () => {};
  return {
    allowUntil(time) {
      monotonicEnd = time;
      wallEnd = systemClock.now() + (time - performance.now());
    },
    onRefused(callback) {
      refused = callback;
    },
    assert() {
      if (performance.now() <= monotonicEnd && systemClock.now() <= wallEnd) return;
      refused();
      throw changesFenced();
    },
  };
}

/** Statements that change nothing, and those that end a transaction without an effect. */
const harmless = /^\s*(?:select|show|rollback)\b/i;

export function isChange(statement: string): boolean {
  return !harmless.test(statement);
}
