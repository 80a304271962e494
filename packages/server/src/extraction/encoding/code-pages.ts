/**
 * Encodings that `TextDecoder` does not support: for each code page, the characters of the bytes 0x80 to 0xff. Lower
 * bytes are ASCII. Source: the mapping tables that Unicode publishes for IBM and Apple.
 */
const codePages: Readonly<Record<string, string>> = {
  ibm437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ibm850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  ibm852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  ibm855:
    'ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u00adыЫзЗшШэЭщЩчЧ§■\u00a0',
  'x-mac-ce':
    'ÄĀāÉĄÖÜáąČäčĆćéŹźĎíďĒēĖóėôöõúĚěü†°Ę£§•¶ß®©™ę¨≠ģĮįĪ≤≥īĶ∂∑łĻļĽľĹĺŅņŃ¬√ńŇ∆«»…\u00a0ňŐÕőŌ–—“”‘’÷◊ōŔŕŘ‹›řŖŗŠ‚„šŚśÁŤťÍŽžŪÓÔūŮÚůŰűŲųÝýķŻŁżĢˇ',
};

/** Decodes text in pieces. It throws a TypeError on bytes that are invalid in the encoding. */
export interface PieceDecoder {
  /** Without `stream`, these are the last bytes, and an incomplete character is an error. */
  decode(bytes: Uint8Array, options: { readonly stream: boolean }): string;
}

/** @returns undefined for an unsupported encoding */
export function createDecoder(encoding: string): PieceDecoder | undefined {
  if (encoding === 'utf-32le' || encoding === 'utf-32be') return createUtf32Decoder(encoding === 'utf-32le');
  if (encoding === 'iso-2022-kr') return createKoreanDecoder();
  const page = codePages[encoding];
  if (page !== undefined) return { decode: (bytes) => decodePage(bytes, page) };
  try {
    return new TextDecoder(encoding, { fatal: true });
  } catch {
    return undefined;
  }
}

function decodePage(bytes: Uint8Array, page: string): string {
  const ascii = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  return ascii.replace(/[\x80-\xff]/g, (character) => page.charAt(character.charCodeAt(0) - 0x80));
}

function createUtf32Decoder(little: boolean): PieceDecoder {
  let rest = Buffer.alloc(0);
  return {
    decode: (bytes, { stream }) => {
      const buffer = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
      const whole = buffer.length - (buffer.length % 4);
      rest = Buffer.from(buffer.subarray(whole));
      if (!stream && rest.length > 0) throw new TypeError('The text ends within a character.');
      const parts: string[] = [];
      for (let offset = 0; offset < whole; offset += 4) {
        const point = view.getUint32(offset, little);
        if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) throw new TypeError('no character');
        parts.push(String.fromCodePoint(point));
      }
      return parts.join('');
    },
  };
}

const announcement = /\x1b\$\)C/g;

/** Between the bytes "shift out" and "shift in", EUC-KR characters appear without their highest bits (RFC 1557). */
function createKoreanDecoder(): PieceDecoder {
  const korean = new TextDecoder('euc-kr', { fatal: true });
  let shifted = false;
  return {
    decode: (bytes, options) => {
      const out: number[] = [];
      for (const byte of Buffer.from(Buffer.from(bytes).toString('latin1').replace(announcement, ''), 'latin1')) {
        if (byte === 0x0e) shifted = true;
        else if (byte === 0x0f) shifted = false;
        else if (byte > 0x7f) throw new TypeError('not a byte of ISO-2022-KR');
        else out.push(shifted && byte > 0x20 ? byte | 0x80 : byte);
        if (byte === 0x0a) shifted = false;
      }
      return korean.decode(Uint8Array.from(out), options);
    },
  };
}
