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

/**
 * Divides the tokens of a request among its texts, in proportion to their lengths. The shares are whole numbers whose sum is
 * that of the request. They are 0 when all lengths are.
 */
export function divideTokens(tokens: number, lengths: readonly number[]): number[] {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let passed = 0;
  let given = 0;
  return lengths.map((length) => {
    passed += length;
    const until = total === 0 ? 0 : Math.round((tokens * passed) / total);
    const share = until - given;
    given = until;
    return share;
  });
}
