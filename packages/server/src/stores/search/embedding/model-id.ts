import { createHash } from 'node:crypto';

/** Whether an id has the form of the ids of models. */
export function isModelId(id: string): boolean {
  return /^Qm[0-9a-f]{6}$/.test(id);
}

/** Returns the id of a model in the API. Clients of other programs require 8 characters. */
export function toModelId(model: string): string {
  return `Qm${createHash('sha256').update(model).digest('hex').slice(0, 6)}`;
}
