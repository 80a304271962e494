import type { Redactor } from './redact/redactor.ts';

/** The decoder for the charset of a content type. Default: UTF-8, also for an unknown charset. */
export function decoderFor(contentType: string | undefined): TextDecoder {
  return createDecoder(contentType, false);
}

/** The same decoder, which throws for invalid bytes. */
export function strictDecoderFor(contentType: string | undefined): TextDecoder {
  return createDecoder(contentType, true);
}

function createDecoder(contentType: string | undefined, fatal: boolean): TextDecoder {
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
 * Redacts the secrets from a body that is not UTF-8, whose bytes do not show them: UTF-16, or a charset with escape sequences
 * between the letters. A body with a secret is returned as UTF-8, with a content type that says so.
 */
export function redactCharset({ body, contentType }: Body, redactor: Redactor): Body {
  const decoder = decoderFor(contentType);
  if (decoder.encoding === 'utf-8') return { body, contentType };
  const text = decoder.decode(body);
  const redactedText = redactor.text(text);
  if (redactedText === text) return { body, contentType };
  return { body: Buffer.from(redactedText), contentType: contentType?.replace(charsetPattern, '$1utf-8') };
}
