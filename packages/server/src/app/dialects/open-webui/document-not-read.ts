import { Problem } from '../../../platform/problem.ts';
import type { ExtractionFailureCode } from '../../../stores/extraction/extraction.ts';

/**
 * The document could not be read. Open WebUI recognises the sentence "No extractable text" and then uses its own
 * reader.
 */
export function documentNotRead({ code, message }: { code: ExtractionFailureCode; message: string }): Problem {
  const hasNoText = code === 'no_text' || code === 'file_empty';
  return new Problem('REQUEST_VALIDATION_ERROR', hasNoText ? `No extractable text: ${message}` : message, {
    details: [{ reason: code }],
  });
}
