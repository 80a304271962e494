import type { RecordKey } from './record-repository.ts';

/** A chunk with the range of its text in the extracted text. */
export interface TextPart {
  readonly charStart: number;
  readonly charEnd: number;
  readonly content: string;
  /** Whether the chunk was changed after it was created. */
  readonly isChanged: boolean;
}

export interface TextParts {
  /** In the order of the text. */
  readonly parts: readonly TextPart[];
  /** The offset after the last character of the last chunk; 0 without a chunk. */
  readonly numCharacters: number;
}

export interface TextRange {
  readonly start: number;
  readonly end: number;
  /** The maximum number of chunks. */
  readonly maxParts: number;
}

/** Reads the texts of chunks by their offsets. */
export interface RecordTextRepository {
  /** Returns the visible chunks of the record that have characters of the range, and at most one before it. */
  read(key: RecordKey, range: TextRange): Promise<TextParts>;
}
