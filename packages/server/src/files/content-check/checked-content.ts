/** The content of a file, read where it is needed. */
export interface CheckedContent {
  readonly bytes: number;
  /** Shorter where the content ends. */
  read(position: number, length: number): Promise<Buffer>;
}
