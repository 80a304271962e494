import type { Locator } from '@quartermaster/contract';
import { parseJson } from '../../platform/json/parse-json.ts';
import type { ChunkChange } from '../../stores/collections/chunks/chunk-repository.ts';
import { contentOfPair } from '../../stores/extraction/extraction.ts';

/** The texts of a chunk. Question and answer are null unless it is a pair. */
interface ChunkTexts {
  readonly content: string;
  readonly question: string | null;
  readonly answer: string | null;
}

/**
 * Returns the value of the column `content`. It is empty for pairs, whose content follows from question and answer.
 * ADR 0126.
 */
export function toStoredContent({ content, question, answer }: ChunkTexts): string {
  const isDerived = question !== null && answer !== null && content === contentOfPair(question, answer);
  return isDerived ? '' : content;
}

/** Returns the columns of a changed text. Only a pair has a question and an answer. */
export function toTextColumns({ content, question, answer, numTokens }: NonNullable<ChunkChange['text']>) {
  const isPair = typeof question === 'string' && typeof answer === 'string';
  return {
    num_tokens: numTokens,
    ...(isPair ? { content: toStoredContent({ content, question, answer }), question, answer } : { content }),
  };
}

/** Returns the content of a stored chunk. No chunk has an empty content. */
export function contentOf({ content, question, answer }: ChunkTexts): string {
  return content === '' && question !== null && answer !== null ? contentOfPair(question, answer) : content;
}

/** Returns the headings above a chunk as one text, from its stored locator. */
export function headingOf(locator: string | null): string | null {
  const { heading_path: headings } = (locator === null ? {} : parseJson(locator)) as Partial<Locator>; // written by `toRow`
  return headings?.join('\n') ?? null;
}
