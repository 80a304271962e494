import type { Findings } from '../history/findings.ts';
import { bars, type Cost, type HoldCase } from './hold-case.ts';
import { type KnownException, knownExceptions } from './known-exceptions.ts';

/** Compares costs with the limits and collects the figures. */
export interface Judge {
  /**
   * Whether one measurement is enough: it is within the limits, or those of a known exception, and its delay is at most
   * half of the limit. A longer delay may come from a host that gives the machine no processor, which the machine
   * cannot measure. If only delays above the limit were measured again, the figure would be close to the limit.
   */
  isEnough(payload: HoldCase, cost: Cost): boolean;
  /** Adds all measurements of a payload. Returns the exceeded limits. */
  add(payload: HoldCase, costs: readonly Cost[]): readonly string[];
  report(findings: Findings): void;
  figures(): Record<string, number | string>;
}

interface Judged {
  readonly payload: HoldCase;
  /** The smallest value of each cost, over all measurements. */
  readonly cost: Cost;
}

export function createJudge(): Judge {
  const all: Judged[] = [];
  const exceeded = new Map<KnownException, Judged[]>();
  return {
    isEnough(payload, cost) {
      const { delay = bars.delay } = exceptionOf(payload) ?? {};
      return describeExcesses(payload, cost).length === 0 && cost.delay <= delay / 2;
    },
    add(payload, costs) {
      const judged = { payload, cost: smallest(costs) };
      all.push(judged);
      const known = exceptionOf(payload);
      const isOver = overBars(payload, judged.cost, {}).length > 0;
      if (known !== undefined && isOver) exceeded.set(known, [...(exceeded.get(known) ?? []), judged]);
      return describeExcesses(payload, judged.cost).map((excess) => `${excess}; ${describe(judged.cost)}`);
    },
    report(findings) {
      for (const { payload, cost } of all) {
        const found = findings.after(`${payload.target}: ${payload.payload}`);
        for (const excess of describeExcesses(payload, cost)) found.add('unavailable', `${excess}; ${describe(cost)}`);
      }
    },
    figures: () => ({
      ...figuresOf(all.filter(({ payload }) => exceptionOf(payload) === undefined)),
      ...Object.fromEntries(
        [...exceeded].map(([{ what }, judged]) => [
          `known exception: ${what}`,
          `${judged.length} payloads, at most ${worst(judged, 'delay')} ms, ${worst(judged, 'memory')} MiB`,
        ]),
      ),
    }),
  };
}

/** Returns the figures of the payloads without a known exception. */
function figuresOf(all: readonly Judged[]): Record<string, number | string> {
  const slowest = all.toSorted((a, b) => b.cost.delay - a.cost.delay)[0]?.payload;
  const withOwnLimit = all.filter(({ payload }) => payload.mostAnswer !== undefined);
  const others = all.filter(({ payload }) => payload.mostAnswer === undefined);
  return {
    'longest delay of the event loop (ms)': worst(all, 'delay'),
    'payload with the longest delay': slowest === undefined ? '' : `${slowest.target}: ${slowest.payload}`,
    'processor time within the longest delay (ms)': worst(all, 'delayProcessor'),
    'most memory above idle (MiB)': worst(all, 'memory'),
    'longest response time (ms)': worst(others, 'answer'),
    'longest response time of a plugin run (ms)': worst(withOwnLimit, 'answer'),
  };
}

function worst(all: readonly Judged[], name: 'delay' | 'delayProcessor' | 'memory' | 'answer'): number {
  return Math.round(all.reduce((most, { cost }) => Math.max(most, cost[name]), 0));
}

function smallest(costs: readonly Cost[]): Cost {
  const last = costs.at(-1);
  if (last === undefined) throw new Error('a payload was not measured');
  const least = (name: 'delay' | 'delayProcessor' | 'processor' | 'memory' | 'answer') =>
    Math.min(...costs.map((cost) => cost[name]));
  return {
    outcome: last.outcome,
    delay: least('delay'),
    delayProcessor: least('delayProcessor'),
    processor: least('processor'),
    memory: least('memory'),
    answer: least('answer'),
  };
}

function exceptionOf({ target, payload }: HoldCase): KnownException | undefined {
  return knownExceptions.find((known) => known.target.test(target) && known.payload.test(payload));
}

function describeExcesses(payload: HoldCase, cost: Cost): string[] {
  return overBars(payload, cost, exceptionOf(payload) ?? {});
}

type Allowed = Pick<KnownException, 'delay' | 'memory' | 'answer'>;

function overBars(payload: HoldCase, cost: Cost, allowed: Allowed): string[] {
  const { delay = bars.delay, memory = bars.memory } = allowed;
  const answer = allowed.answer ?? payload.mostAnswer ?? bars.answer;
  return [
    ...(cost.delay > delay ? [`held the event loop for ${Math.round(cost.delay)} ms`] : []),
    ...(cost.memory > memory ? [`took ${Math.round(cost.memory)} MiB above idle`] : []),
    ...(cost.answer > answer ? [`took ${Math.round(cost.answer)} ms to answer`] : []),
    ...(/^(?:no answer|no end|the service ended|time_limit)$/.test(cost.outcome) ? [cost.outcome] : []),
  ];
}

function describe({ outcome, delayProcessor, processor, memory, answer }: Cost): string {
  const figures = [
    `processor ${Math.round(delayProcessor)} ms within, ${Math.round(processor)} ms in all`,
    `${Math.round(memory)} MiB`,
    `answer ${Math.round(answer)} ms`,
  ];
  return `${outcome}; ${figures.join(', ')}`;
}
