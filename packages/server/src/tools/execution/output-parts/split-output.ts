import { parseExactJson } from '../../../platform/json/exact-json.ts';
import { jsonSize } from '../../../platform/json/json-size.ts';
import { hasFewParts, isShallow, maxOutputDepth, maxOutputParts } from '../json-bounds.ts';
import { readLongText } from './detect-media.ts';
import { findMedia, replaceAt, visitTexts } from './find-parts.ts';
import { type OutputPart, outputPartLimits } from './output-part.ts';

/** An output without the parts that were taken out of it, which are `null` in it. */
export interface SplitOutput {
  readonly output: unknown;
  readonly parts: readonly OutputPart[];
}

/**
 * Takes parts out of an output that is too large to be returned unchanged: pictures and other media first, then long
 * texts. An output that is still too large is moved out as a whole, as JSON. The work grows with the output, so long
 * answers are split in a thread.
 */
export function splitOutput(output: unknown): SplitOutput {
  const { inlineBytes } = outputPartLimits;
  // A value that is nested too deeply for recursive functions is not searched for parts.
  if (!isShallow(output, maxOutputDepth) || !hasFewParts(output, maxOutputParts)) return whole(output);
  let split: SplitOutput = without(output, findMedia(output));
  if (jsonSize(split.output, inlineBytes) > inlineBytes) {
    split = without(split.output, [...split.parts, ...findLargeTexts(split.output, split.parts.length)]);
  }
  return jsonSize(split.output, inlineBytes) > inlineBytes ? whole(output) : split;
}

/** Joins an output with the parts that could not be stored. Their base64 then has no line breaks, and the padding that is usual for its alphabet. */
export function joinOutput({ output, parts }: SplitOutput): unknown {
  return replaceAt(output, new Map(parts.map((part) => [part.path, restore(part)])));
}

function restore({ form, prefix, bytes }: OutputPart): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (form === 'base64' || form === 'base64url') return prefix + buffer.toString(form);
  const text = buffer.toString();
  return form === 'text' ? text : parseExactJson(text);
}

function without(output: unknown, parts: readonly OutputPart[]): SplitOutput {
  return { output: replaceAt(output, new Map(parts.map(({ path }) => [path, null]))), parts };
}

function findLargeTexts(output: unknown, found: number): OutputPart[] {
  const parts: OutputPart[] = [];
  visitTexts(output, (text, path) => {
    if (text.length >= outputPartLimits.largeText) {
      parts.push({ path, ...readLongText(text) });
    }
    return found + parts.length < outputPartLimits.parts;
  });
  return parts;
}

function whole(output: unknown): SplitOutput {
  const bytes = Buffer.from(JSON.stringify(output) ?? 'null');
  return { output: null, parts: [{ path: '', mediaType: 'application/json', bytes, form: 'json', prefix: '' }] };
}
