/**
 * The version of the analysis: of the terms that `chunk-terms.ts` returns for a text, and
 * `filter-terms.ts` for a chunk. Increase it with each change of them. Indexes of other versions are then rebuilt in the background, and go on answering until that is done.
 */
export const analysisVersion = 7;
