import { createHash } from 'node:crypto';

/** Returns the id of a model in the API. Clients of other programs require 8 characters. */
export function toModelId(model: string): string {
  return `Qm${createHash('sha256').update(model).digest('hex').slice(0, 6)}`;
}
