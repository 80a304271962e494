import type { HoldService } from './hold-service.ts';

/** One payload for one place of the service. */
export interface HoldCase {
  /** The operation, plugin or reader that gets it. */
  readonly target: string;
  /** Its place and its kind. */
  readonly payload: string;
  /** @returns what came of it, such as a status */
  send(service: HoldService): Promise<string>;
  /** Milliseconds until the answer that are allowed; default: {@link bars}. */
  readonly mostAnswer?: number;
}

/** What a payload of at most 1 MiB may cost. */
export const bars = {
  /** Milliseconds in which the event loop runs nothing else. */
  delay: 50,
  /** MiB of resident memory above rest. */
  memory: 64,
  /** Milliseconds until the answer. */
  answer: 1_000,
} as const;

/** Bytes of the largest payload: a little less than the largest JSON body. */
export const payloadBytes = 1024 * 1024 - 2_048;

/** What a payload cost, as the process measured itself. */
export interface Cost {
  readonly outcome: string;
  readonly delay: number;
  readonly delayProcessor: number;
  readonly processor: number;
  readonly memory: number;
  readonly answer: number;
}
