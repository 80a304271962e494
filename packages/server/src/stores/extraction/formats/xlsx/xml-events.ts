import { Parser } from 'htmlparser2';

export type Attributes = Readonly<Record<string, string>>;

/** Names come without their prefix: `x:row` and `row` are the same. */
export interface XmlEvents {
  open(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

const pieceBytes = 64 * 1024;

/** Parses a part piece by piece and yields after each piece. Document type definitions were refused before. */
export function* readXml(part: Uint8Array, events: XmlEvents): Generator<undefined> {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => events.open(localName(name), attributes),
      ontext: (text) => events.text?.(text),
      onclosetag: (name) => events.close?.(localName(name)),
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = new TextDecoder(encodingOf(part));
  for (let at = 0; at < part.length; at += pieceBytes) {
    parser.write(decoder.decode(part.subarray(at, at + pieceBytes), { stream: true }));
    yield;
  }
  parser.end(decoder.decode());
  yield;
}

/** Reads a whole part at once. */
export function readWhole(part: Uint8Array, events: XmlEvents): void {
  for (const _ of readXml(part, events));
}

/** Office writes UTF-8; the standard allows UTF-16 with a mark, and others exist. */
export function encodingOf(part: Uint8Array): string {
  const [first, second] = part;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const declaration = Buffer.from(part.subarray(0, 100)).toString('latin1');
  const declared = /^<\?xml[^>]*encoding\s*=\s*["']([\w-]+)["']/.exec(declaration)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(declared).encoding;
  } catch {
    return 'utf-8';
  }
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}
