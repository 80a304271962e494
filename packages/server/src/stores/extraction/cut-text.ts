const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** The characters before the end that decide where the last grapheme begins. */
const window = 64;

/** Truncates a text at the border of a grapheme, such as an emoji of several parts. Never cuts within a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const [last, next] = [text.charCodeAt(length - 1), text.charCodeAt(length)];
  if (last < 0x80 && next < 0x80) return text.slice(0, length);
  const from = Math.max(0, length - window);
  const { index = 0 } = graphemes.segment(text.slice(from, length + 2)).containing(length - from) ?? {};
  if (index > 0) return text.slice(0, from + index);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
