import { createHash } from 'node:crypto';

/**
 * Finds the vectors of equal texts. The key depends on the project and the model, so equal texts of two projects have different
 * keys. It is a whole number of 48 bits. Two texts may have the same key, so compare the texts.
 */
export function toTextKey(projectId: string, model: string, text: string): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([projectId, model]))
    .update(text)
    .digest();
  return hash.readUIntBE(0, 6);
}
