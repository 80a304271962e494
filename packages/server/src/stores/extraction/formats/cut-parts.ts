/** The root element and its end are looked for in this many bytes at both ends of a part. */
const looked = 2_000;
const mostNamed = 5;

/** Returns a copy of both ends of a part, which are enough to describe whether it is cut. */
export function endsOf(part: Uint8Array): Uint8Array {
  if (part.length <= 2 * looked) return new Uint8Array(part);
  return new Uint8Array([...part.subarray(0, looked), ...part.subarray(-looked)]);
}

/** Returns the warning about XML parts that end before their root element does; the record is then `partial`. */
export function describeCutParts(parts: Iterable<readonly [name: string, part: Uint8Array]>): string[] {
  const names = [...parts].filter(([, part]) => isCut(part)).map(([name]) => JSON.stringify(name));
  if (names.length === 0) return [];
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return [`parts_cut: These parts of the file end too early, so text is missing: ${named(names)}${more}.`];
}

const named = (names: readonly string[]) => names.slice(0, mostNamed).join(', ');

function isCut(part: Uint8Array): boolean {
  const start = plain(part.subarray(0, looked)).replaceAll(/<!--[\s\S]*?-->/g, ''); // bounded: at most 2,000 characters (the first of a part)
  const root = /<([A-Za-z_][^\s/>]*)/.exec(start)?.[1];
  if (root === undefined) return start.trim() !== '';
  if (plain(part.subarray(-looked)).includes(`</${root}`)) return false;
  const isEmpty = part.length <= looked && /^[^<]*\/>\s*$/.test(start.slice(start.indexOf(`<${root}`) + 1));
  return !isEmpty;
}

/** The markup of UTF-8 and of UTF-16 as the same characters. */
const plain = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1').replaceAll('\0', '');
