import { type ErrorCode, errorCodes } from '@quartermaster/contract';
import type { Config } from '../settings/config.ts';
import type { settings } from '../settings/settings.ts';

/** The answer to a request above a limit. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
}

/** One limit of something whose size or number a caller chooses. */
export interface Limit {
  /** What is bounded: the rest of a sentence that starts with "at most <value> <unit>". */
  readonly bounds: string;
  readonly unit: 'bytes' | 'characters' | 'levels' | 'members' | 'items' | 'seconds' | 'pixels';
  /** Reads the constant or setting that enforces the limit. Never a second copy of the number. null: no limit is set. */
  readonly value: (config: Config) => number | null;
  /** The setting that changes the value. */
  readonly setting?: keyof typeof settings;
  /** A refusal, or a sentence that says what happens instead. */
  readonly above: Refusal | string;
}

/** A refusal with the usual status of its code. */
export function refused(code: ErrorCode, status: number = errorCodes[code].status): Refusal {
  return { status, code };
}
