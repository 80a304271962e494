/** The content of a file, which the checks read in parts. */
export interface CheckedContent {
  readonly bytes: number;
  /** Returns fewer bytes at the end of the content. */
  read(position: number, length: number): Promise<Buffer>;
}
