/** The characters of one piece of a line. One list is reused for all pieces. */
export interface CharacterList {
  /** Removes the characters of the previous piece. */
  begin(): void;
  /** `place` is the index in the text of the page; -1 for a blank that represents a gap. */
  add(code: number, place: number): void;
  length(): number;
  /** The place of the last character; -1 when there is none. */
  lastPlace(): number;
  codes(): readonly number[];
  places(): readonly number[];
  text(): string;
}

const usualLength = 4096;

export function createCharacterList(): CharacterList {
  let codes = new Int32Array(usualLength);
  let places = new Int32Array(usualLength);
  let bytes = Buffer.alloc(usualLength);
  let length = 0;
  /** The bitwise OR of all codes so far, which shows whether each is a byte. */
  let all = 0;

  function grow(): void {
    codes = grown(codes);
    places = grown(places);
    bytes = Buffer.concat([bytes], 2 * bytes.length);
  }

  return {
    begin: () => {
      length = 0;
      all = 0;
    },
    add: (code, place) => {
      if (length === codes.length) grow();
      codes[length] = code;
      places[length] = place;
      bytes[length] = code;
      length += 1;
      all |= code;
    },
    length: () => length,
    lastPlace: () => places[length - 1] ?? -1,
    codes: () => Array.from(codes.subarray(0, length)),
    places: () => Array.from(places.subarray(0, length)),
    text: () => {
      if (all >= 0 && all <= 0xff) return bytes.toString('latin1', 0, length);
      let text = '';
      for (let at = 0; at < length; at += 1) text += characterOf(codes[at] ?? 0);
      return text;
    },
  };
}

function grown(list: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * list.length);
  longer.set(list);
  return longer;
}

export function characterOf(code: number): string {
  return code < 0x10000 ? String.fromCharCode(code) : String.fromCodePoint(code <= 0x10ffff ? code : 0xfffd);
}
