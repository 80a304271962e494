import { countWords, joinLoose, toTermFrequencies } from './chunk-terms.ts';
import { isListOfEntries } from './entry-lists.ts';
import { languageOf } from './languages.ts';
import { listTerm } from './term-kinds.ts';
import { joinFrequencies } from './tokenizer.ts';

/**
 * The texts of one chunk, by field. The content of a pair already holds its question. A question adds to the content: its
 * terms count again, so that they count more than those of the answer. Of the other fields, only terms that the content lacks count.
 */
export interface ChunkFields {
  /** The title of the record. */
  readonly title?: string | null;
  /** The name of the file of the record. */
  readonly fileName?: string | null;
  /** The headings of the sections that contain the chunk. */
  readonly heading?: string | null;
  readonly question?: string | null;
  readonly content: string;
}

export type FieldWeights = Readonly<Record<keyof ChunkFields, number>>;

/**
 * Whole numbers, so that sums in an index are exact. A field of weight 0 is not indexed. A change needs a new
 * `analysisVersion`.
 */
export const fieldWeights: FieldWeights = { title: 1, fileName: 1, heading: 1, question: 1, content: 1 };

/**
 * Returns the terms of a chunk with their weighted frequencies (Σ weight · count), in the format of
 * `ExtractedChunk.words`. The index adds them up to its weighted length (Σ weight · length). The content decides the language of
 * all fields, because the others are short.
 * @param content the folded words of the content, if they are known
 */
export function countFieldTerms(
  fields: ChunkFields,
  { weights = fieldWeights, content = countWords(fields.content) }: Partial<WeighedContent> = {},
): string {
  const language = languageOf(content);
  const own = toTermFrequencies(content, language);
  const weighted = new Map<string, number>();
  for (const name of Object.keys(weights) as Array<keyof ChunkFields>) {
    const text = fields[name];
    if (text === undefined || text === null || weights[name] === 0) continue;
    const terms =
      name === 'content' ? own : toTermFrequencies(countWords(name === 'fileName' ? divideName(text) : text), language);
    for (const [term, times] of terms)
      if (addsTo.content.includes(name) || !own.has(term))
        weighted.set(term, (weighted.get(term) ?? 0) + times * weights[name]);
  }
  joinLoose(weighted);
  if (!fields.question && isListOfEntries(fields.content)) {
    const length = weighted.values().reduce((sum, times) => sum + times, 0);
    weighted.set(listTerm, (listFactor - 1) * length);
  }
  return joinFrequencies(weighted);
}

/** A list of entries counts as this many times as long, so that each of its words counts less. Measured: ADR 0138. */
const listFactor = 3;

/** The fields whose terms count although the content has them. */
const addsTo: { readonly content: ReadonlyArray<keyof ChunkFields> } = { content: ['question', 'content'] };

interface WeighedContent {
  readonly weights: FieldWeights;
  readonly content: ReadonlyMap<string, number>;
}

/** Returns the words of a file name without its extension. */
function divideName(name: string): string {
  const dot = name.lastIndexOf('.');
  return name.slice(0, dot > 0 ? dot : name.length).replaceAll(/[._-]/g, ' ');
}
