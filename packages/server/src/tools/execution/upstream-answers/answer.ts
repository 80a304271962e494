import { withoutHiddenCharacters } from '../../../platform/plain-name.ts';
import { decodeText } from './body.ts';

/** The answer of an upstream. The broker has already redacted it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const excerptBytes = 1024;

/** The first bytes of an answer, to explain a failure. */
export function excerptOf(result: Pick<Answer, 'body' | 'headers'>): string | null {
  const text = decodeText(result.body.subarray(0, excerptBytes), result.headers['content-type']);
  return text === '' ? null : withoutHiddenCharacters(text.replace(/\uFFFD$/, ''));
}
