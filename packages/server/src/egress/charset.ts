import type { Redactor } from './redact/redactor.ts';

/** By the charset that a content type names, else UTF-8; one that nobody knows counts as none. */
export function decoderFor(contentType: string | undefined): TextDecoder {
  return makeDecoder(contentType, false);
}

/** The same; what has no meaning in the charset is an error. */
export function strictDecoderFor(contentType: string | undefined): TextDecoder {
  return makeDecoder(contentType, true);
}

function makeDecoder(contentType: string | undefined, fatal: boolean): TextDecoder {
  const charset = charsetPattern.exec(contentType ?? '')?.[2] ?? 'utf-8';
  try {
    return new TextDecoder(charset, { fatal });
  } catch {
    return new TextDecoder('utf-8', { fatal });
  }
}

const charsetPattern = /(;\s*charset=)"?([A-Za-z0-9_.:-]{1,40})"?/i;

interface Body {
  readonly body: Buffer;
  readonly contentType: string | undefined;
}

/**
 * Takes the secrets out of a body that is not UTF-8, whose bytes do not show them: of UTF-16, or of a charset whose
 * sequences stand between the letters. What held one comes back as UTF-8, and says so.
 */
export function redactCharset({ body, contentType }: Body, redactor: Redactor): Body {
  const decoder = decoderFor(contentType);
  if (decoder.encoding === 'utf-8') return { body, contentType };
  const text = decoder.decode(body);
  const scrubbed = redactor.text(text);
  if (scrubbed === text) return { body, contentType };
  return { body: Buffer.from(scrubbed), contentType: contentType?.replace(charsetPattern, '$1utf-8') };
}
