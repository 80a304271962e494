import { type ErrorCode, errorCodes } from '@quartermaster/contract';
import type { Config } from '../settings/config.ts';
import type { settings } from '../settings/settings.ts';

/** The error for a request above a limit. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
}

/** A limit for something whose size or number a caller chooses. */
export interface Limit {
  /** A noun phrase that names the limited value. */
  readonly bounds: string;
  readonly unit: 'bytes' | 'characters' | 'levels' | 'members' | 'items' | 'seconds' | 'pixels';
  /** Returns the constant or setting that enforces the limit, never a copy of the number. null when no limit is set. */
  readonly value: (config: Config) => number | null;
  /** The setting that changes the value. */
  readonly setting?: keyof typeof settings;
  /** The error, or a sentence about what happens instead. */
  readonly above: Refusal | string;
}

/** Creates an error with the usual status of its code. */
export function refused(code: ErrorCode, status: number = errorCodes[code].status): Refusal {
  return { status, code };
}
