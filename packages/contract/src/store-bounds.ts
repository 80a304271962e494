/** Bounds of what collections, records and chunks hold. docs/reference/limits.md lists them. */

/** Of metadata; `textCharacters` of a value of a record's metadata. */
export const metadataLimits = { entries: 16, nameCharacters: 64, textCharacters: 512 } as const;
/** Characters of texts. `content`: of a chunk, and of a record of type `text`. */
export const textLimits = { name: 127, description: 512, title: 255, content: 65_535, query: 32_768 } as const;
export const separatorLimits = { separators: 16, characters: 49 } as const;
