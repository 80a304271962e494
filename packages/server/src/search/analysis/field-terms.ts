import { addTerms, joinFrequencies } from './tokenizer.ts';

/**
 * The texts of one chunk, by field. The content of a pair already holds its question, and that of a section its heading.
 * A field adds to it: a term counts once for each field that has it, times the weight of the field.
 */
export interface ChunkFields {
  readonly title?: string;
  readonly heading?: string;
  readonly question?: string;
  readonly content: string;
}

export type FieldWeights = Readonly<Record<keyof ChunkFields, number>>;

/**
 * Whole numbers, so that sums in an index are exact. A field of weight 0 is not indexed. A change needs a new
 * `analysisVersion`.
 */
export const fieldWeights: FieldWeights = { title: 0, heading: 0, question: 0, content: 1 };

/**
 * Returns the terms of a chunk with their weighted frequencies (Σ weight · count), in the format of
 * `ExtractedChunk.words`. The index adds them up to its weighted length (Σ weight · length).
 */
export function countFieldTerms(fields: ChunkFields, weights: FieldWeights = fieldWeights): string {
  const weighted = new Map<string, number>();
  for (const name of Object.keys(weights) as Array<keyof ChunkFields>) {
    const text = fields[name];
    if (text === undefined || weights[name] === 0) continue;
    const frequencies = new Map<string, number>();
    addTerms(frequencies, text);
    for (const [term, times] of frequencies) weighted.set(term, (weighted.get(term) ?? 0) + times * weights[name]);
  }
  return joinFrequencies(weighted);
}
