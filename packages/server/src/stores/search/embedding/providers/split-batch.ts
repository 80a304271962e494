import { setImmediate } from 'node:timers/promises';
import type { CountTokens } from '../../analysis/measure-text.ts';

/**
 * Tokens are counted with the tokenizer of cl100k_base. Those of other models split most texts into at most this many
 * times as many tokens. If a model needs more, it refuses the request, and the embedder sends the halves.
 */
const tokenizerMargin = 1.5;

export interface BatchLimits {
  readonly maxTexts: number;
  /** Null: there is no limit. */
  readonly maxTokens: number | null;
}

/**
 * Splits texts into batches that fit into one request, in order. A text that is too long for a request forms a batch of
 * its own. It counts tokens only when the bytes, which are at least as many, do not fit.
 */
export async function splitBatch(
  texts: readonly string[],
  { maxTexts, maxTokens }: BatchLimits,
  countTokens: CountTokens,
): Promise<string[][]> {
  const batches: string[][] = [];
  let left = 0;
  const isCounted = maxTokens !== null && bytesOf(texts) > maxTokens;
  for (const text of texts) {
    const tokens = isCounted ? await estimate(text, countTokens) : 0;
    const current = batches.at(-1);
    if (current === undefined || current.length === maxTexts || tokens > left) {
      batches.push([text]);
      left = (maxTokens ?? 0) - tokens;
    } else {
      current.push(text);
      left -= tokens;
    }
  }
  return batches;
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}

/** Counting a long text takes milliseconds, so other work comes between two texts. */
async function estimate(text: string, countTokens: CountTokens): Promise<number> {
  await setImmediate();
  return Math.min(Buffer.byteLength(text), Math.ceil((await countTokens(text)) * tokenizerMargin));
}
