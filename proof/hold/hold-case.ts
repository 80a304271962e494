import type { HoldService } from './hold-service.ts';

/** One payload for one place of the service. */
export interface HoldCase {
  /** The operation, plugin or reader that receives it. */
  readonly target: string;
  /** The place and the kind of the payload. */
  readonly payload: string;
  /** Sends the payload. Returns the outcome, for example a status. */
  send(service: HoldService): Promise<string>;
  /** Milliseconds that the response may take; default: {@link bars}. */
  readonly mostAnswer?: number;
}

/** The limits for a payload of at most 1 MiB. */
export const bars = {
  /** Milliseconds for which the event loop may run nothing else. */
  delay: 50,
  /** MiB of resident memory above that of the idle process. */
  memory: 64,
  /** Milliseconds until the response. */
  answer: 1_000,
} as const;

/** The number of bytes of the largest payload, slightly less than the limit of a JSON body. */
export const payloadBytes = 1024 * 1024 - 2_048;

/** The cost of a payload, measured by the process itself. */
export interface Cost {
  readonly outcome: string;
  readonly delay: number;
  readonly delayProcessor: number;
  readonly processor: number;
  readonly memory: number;
  readonly answer: number;
}
