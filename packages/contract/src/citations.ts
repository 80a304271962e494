import { type Static, Type } from 'typebox';
import { pagePictureWidth, recordTextLimits } from './store-bounds.ts';

/** Where passages stand in their sources. Source: docs/contract.md "Collections, records, chunks". */

/** The position of a chunk in its source. The format of the source determines the members. */
export const Locator = Type.Object({
  page: Type.Optional(Type.Integer({ description: 'First page, counted from 1.' })),
  page_end: Type.Optional(Type.Integer({ description: 'Last page.' })),
  heading_path: Type.Optional(Type.Array(Type.String(), { description: 'Headings above the chunk, outermost first.' })),
  sheet: Type.Optional(Type.String()),
  row: Type.Optional(Type.Integer({ description: 'Row of the sheet, or line of the CSV file, counted from 1.' })),
  cells: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Cells of the question and of the answer of a pair, in this order, such as `B7` and `D7`. The letters name the column, and the number is `row`.',
    }),
  ),
  char_start: Type.Optional(
    Type.Integer({ description: 'Offset of the first character in the extracted text, counted from 0.' }),
  ),
  char_end: Type.Optional(Type.Integer({ description: 'Offset after the last character.' })),
});
export type Locator = Static<typeof Locator>;

export const RecordTextQuery = Type.Object({
  char_start: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'Offset of the first character, as in `locator.char_start` of a chunk.',
    }),
  ),
  max_characters: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: recordTextLimits.characters,
      default: recordTextLimits.defaultCharacters,
      description: 'Maximum number of characters in the answer.',
    }),
  ),
});
export type RecordTextQuery = Static<typeof RecordTextQuery>;

/** A part of the extracted text of a record. Offsets count UTF-16 code units. */
export const RecordText = Type.Object({
  object: Type.Literal('RecordText'),
  record_id: Type.String(),
  text: Type.String(),
  char_start: Type.Integer({ description: 'Offset of the first character of `text`.' }),
  char_end: Type.Integer({ description: 'Offset after the last character of `text`.' }),
  num_characters: Type.Integer({ description: 'Offset after the last character of the last chunk.' }),
  has_more: Type.Boolean({ description: 'Whether text follows. Request it with `char_end` as `char_start`.' }),
  gaps: Type.Array(
    Type.Object({
      char_start: Type.Integer({ description: 'Offset of its first character.' }),
      char_end: Type.Integer({ description: 'Offset after its last character.' }),
    }),
    { description: 'Ranges that belong to no chunk. Blanks and line breaks stand for their characters.' },
  ),
});
export type RecordText = Static<typeof RecordText>;

export const PassageBoxes = Type.Object({
  object: Type.Literal('PassageBoxes'),
  chunk_id: Type.String(),
  record_id: Type.String(),
  file_id: Type.String(),
  pages: Type.Array(
    Type.Object({
      page: Type.Integer({ description: 'Number of the page, counted from 1.' }),
      width: Type.Number({ description: 'Width of the page as it is shown, in points (1/72 inch).' }),
      height: Type.Number({ description: 'Height of the page in points.' }),
      boxes: Type.Array(Type.Array(Type.Number(), { minItems: 4, maxItems: 4 }), {
        description:
          'Left, top, width and height of each line of the passage, in points from the top left corner of the page. Empty when neither the text layer of the page nor OCR gives the places of its words.',
      }),
    }),
    { description: 'The pages on which the passage stands, at most 40.' },
  ),
});
export type PassageBoxes = Static<typeof PassageBoxes>;

export const PagePictureQuery = Type.Object({
  width: Type.Optional(
    Type.Integer({
      minimum: pagePictureWidth.least,
      maximum: pagePictureWidth.most,
      default: pagePictureWidth.default,
      description: 'Width of the picture in pixels. A picture has at most 4,000,000 pixels and may be narrower.',
    }),
  ),
  chunk_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'Chunk of the record that is marked on the page.' }),
  ),
});
export type PagePictureQuery = Static<typeof PagePictureQuery>;
