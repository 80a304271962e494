/** A chunk as a step of a rebuild reads it. */
export interface ChunkTexts {
  readonly seq: number;
  readonly id: string;
  readonly content: string;
  readonly question: string | null;
  readonly answer: string | null;
  readonly record_id: string | null;
  /** JSON, as that of the record. */
  readonly metadata: string;
  readonly record_metadata: string | null;
  /** JSON. */
  readonly locator: string | null;
  readonly record_title: string | null;
  /** The JSON of the file of the record. */
  readonly record_file: string | null;
}
