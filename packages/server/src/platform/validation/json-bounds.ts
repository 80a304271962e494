/** Limits of a JSON text that are checked before it is parsed. */
export interface JsonBounds {
  /** The nesting depth of arrays and objects. */
  readonly depth: number;
  /** The members of all objects and the items of all arrays together. */
  readonly members: number;
}

/**
 * Returns the bound that a JSON text exceeds first, in one pass without allocation. Invalid JSON is counted as well.
 * @returns null when it exceeds none
 */
export function findExceededBound(json: string, bounds: JsonBounds): keyof JsonBounds | null {
  let depth = 0;
  let members = 0;
  let inText = false;
  let isOpened = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inText) {
      if (code === backslash) i++;
      else if (code === quote) inText = false;
      continue;
    }
    if (code <= space) continue;
    const closes = code === closingBrace || code === closingBracket;
    // A comma precedes each member except the first, which follows the opening bracket.
    if (code === comma || (isOpened && !closes)) members++;
    isOpened = code === openingBrace || code === openingBracket;
    if (code === quote) inText = true;
    else if (isOpened) depth++;
    else if (closes) depth--;
    if (depth > bounds.depth) return 'depth';
    if (members > bounds.members) return 'members';
  }
  return null;
}

const [space, quote, comma, backslash] = [0x20, 0x22, 0x2c, 0x5c];
const [openingBracket, closingBracket, openingBrace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
