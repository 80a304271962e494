import { execFileSync } from 'node:child_process';
import { corpusFolder } from '../../../../../../../test/support/corpus.ts';
import type { Box } from '../../page-protocol.ts';

export interface PopplerWord {
  /** Letters and digits in lower case. */
  readonly text: string;
  readonly box: Box;
}

export interface PopplerPage {
  readonly width: number;
  readonly height: number;
  readonly words: readonly PopplerWord[];
}

const sizes = /^width="([^"]+)" height="([^"]+)"/; // bounded: at most 200 characters (one tag of poppler)
const wordTag = /<word xMin="([^"]+)" yMin="([^"]+)" xMax="([^"]+)" yMax="([^"]+)">([^<]*)</g; // bounded: at most 10 MiB (a page of the corpus)

/** Reads the words of each page with `pdftotext -bbox` of poppler, in points from the top left corner. */
export function readWithPoppler(path: string): PopplerPage[] {
  const html = execFileSync('/usr/bin/pdftotext', ['-bbox', '-cropbox', path, '-'], {
    cwd: corpusFolder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return html
    .split('<page ')
    .slice(1)
    .map((page) => {
      const [, width, height] = sizes.exec(page) ?? [];
      return { width: Number(width), height: Number(height), words: [...page.matchAll(wordTag)].map(toWord) };
    });
}

function toWord([, left, top, right, bottom, text = '']: RegExpExecArray): PopplerWord {
  const [x, y] = [Number(left), Number(top)];
  return { text: simplify(decode(text)), box: [x, y, Number(right) - x, Number(bottom) - y] };
}

function decode(text: string): string {
  return text.replace(/&(\w+);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? '');
}

export function simplify(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
