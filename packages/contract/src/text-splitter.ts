import { type Static, Type } from 'typebox';
import { separatorLimits } from './store-bounds.ts';

/** How the text of a record is split into chunks. Source: docs/contract.md "Collections, records, chunks". */

const Separators = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: separatorLimits.characters }), {
    minItems: 1,
    maxItems: separatorLimits.separators,
    description,
  });
export const ChunkSize = Type.Integer({
  minimum: 50,
  maximum: 1000,
  description: 'Maximum number of tokens of a chunk.',
});
const ChunkOverlap = Type.Integer({
  minimum: 0,
  maximum: 200,
  description: 'Number of tokens that a chunk repeats from the previous one, at most half of `chunk_size`.',
});

/** Splits text into chunks of at most `chunk_size` tokens. */
export const TokenSplitter = Type.Object({
  type: Type.Literal('token'),
  chunk_size: ChunkSize,
  chunk_overlap: ChunkOverlap,
  separators: Type.Optional(Separators('Not used.')),
});
/** Splits text at separators, and larger chunks by tokens (default: 1000, without overlap). */
export const SeparatorSplitter = Type.Object({
  type: Type.Literal('separator'),
  separators: Separators('Texts at which a chunk ends, such as a blank line. No separator may contain another one.'),
  chunk_size: Type.Optional(ChunkSize),
  chunk_overlap: Type.Optional(ChunkOverlap),
});
export const TextSplitter = Type.Union([TokenSplitter, SeparatorSplitter], {
  description:
    'How text is split into chunks. By default, it is split by the structure of the document into chunks of at most 400 tokens (up to 640 in scripts other than Latin), and lists and tables that fit stay whole.',
});
export type TextSplitter = Static<typeof TextSplitter>;
