/** The bounds of collections, records and chunks, which the schemas use. */

/** The bounds of metadata. `textCharacters` applies to each value of a record's metadata. */
export const metadataLimits = { entries: 16, nameCharacters: 64, textCharacters: 512 } as const;
/** The maximum number of characters of texts. `content` applies to chunks and to records of type `text`. */
export const textLimits = {
  name: 127,
  description: 512,
  title: 255,
  content: 65_535,
  query: 32_768,
  password: 255,
} as const;
export const separatorLimits = { separators: 16, characters: 49 } as const;
/** The width of the picture of a page, in pixels. */
export const pagePictureWidth = { least: 100, default: 1_000, most: 2_400 } as const;
/** The characters of the text of a record in one answer. */
export const recordTextLimits = { characters: 100_000, defaultCharacters: 20_000 } as const;
