import type { Logger } from '../../../platform/log/logger.ts';
import { Counter, Histogram, type Registry } from '../../../platform/metrics.ts';
import { sandboxRemedy } from '../../../platform/processes/isolation/probe.ts';
import type { SpawnSettings } from '../../../platform/processes/isolation/spawn-isolated.ts';
import { confidenceFloors } from './ocr-report.ts';
import { type ReadPage, readWords } from './read-words.ts';
import type { OcrJob, Picture, Recognition } from './recognition.ts';
import { findTesseract, packageOf, runTesseract, type TesseractRun } from './run-tesseract.ts';
import { languagesFor, readLayout, usualLanguage } from './scripts.ts';

export interface OcrOptions {
  /** A path, or a name to look up in `folders`. */
  readonly program: string;
  readonly folders: readonly string[];
  readonly languages: readonly string[];
  /** The folder of the language data. Default: the one of the program. */
  readonly dataFolder?: string;
  /** The maximum number of pages of one record. */
  readonly maxPages: number;
  /** The maximum number of pixels of one page. */
  readonly maxPixels: number;
  readonly pageSeconds: number;
  /** The time for all pages of one record. */
  readonly recordSeconds: number;
  readonly memoryMb: number;
  readonly isolation: SpawnSettings;
  readonly logger: Logger;
  /** Called after each page. */
  readonly onPage?: ((recognition: Recognition) => void) | undefined;
}

/** What a service reads of one record at most. */
export const ocrBounds = { maxPages: 500, maxPixels: 25_000_000, pageSeconds: 60, recordSeconds: 900 } as const;

/** OCR on the side of the server. */
export interface OcrEngine {
  /** The limits that the reader gets. */
  readonly job: OcrJob;
  /** Starts the budget of one document. */
  openSession(): OcrSession;
}

export interface OcrSession {
  /** Never rejects. An aborted signal ends the program. */
  recognize(picture: Picture, signal: AbortSignal): Promise<Recognition>;
}

export const noOcr: OcrEngine = {
  job: { kind: 'off' },
  openSession: () => ({ recognize: async () => ({ kind: 'unread', reason: 'failed', seconds: 0 }) }),
};

/** Finds the program. Without it or without a sandbox, the engine reads nothing, and its job names the remedy. */
export async function openOcr(options: OcrOptions): Promise<OcrEngine> {
  const { languages, maxPages, maxPixels, isolation, logger } = options;
  const tesseract = isolation.isSandboxed
    ? await findTesseract(options.program, options)
    : `Scanned pages are read in a sandbox only. ${sandboxRemedy}`;
  if (typeof tesseract === 'string') {
    logger.info({ remedy: tesseract }, 'ocr engine unavailable');
    return { ...noOcr, job: { kind: 'missing', remedy: tesseract } };
  }
  const { engine, path } = tesseract;
  logger.info({ engine, path, languages }, 'ocr engine selected');
  return {
    job: { kind: 'on', engine, languages, maxPixels, maxPages },
    openSession: () => createSession(options, { ...options, tesseract }),
  };
}

function createSession(options: OcrOptions, run: Omit<Parameters<typeof runTesseract>[1], 'milliseconds'>): OcrSession {
  const { maxPages, pageSeconds, recordSeconds, onPage } = options;
  let pages = 0;
  let seconds = 0;
  /** A page begins in the languages of the page before it. */
  let { languages } = run;

  async function read(picture: Picture, signal: AbortSignal): Promise<Recognition> {
    const secondsLeft = recordSeconds - seconds;
    if (pages >= maxPages) return { kind: 'unread', reason: 'page_limit', seconds: 0 };
    if (secondsLeft <= 0) return { kind: 'unread', reason: 'time_limit', seconds: 0 };
    pages += 1;
    const milliseconds = 1000 * Math.min(pageSeconds, secondsLeft);
    const options = { ...run, configured: run.languages, languages, milliseconds };
    const recognition = await readSuitably(picture, options, signal);
    seconds += recognition.seconds;
    if (recognition.kind === 'read') languages = recognition.languages ?? languages;
    const isCut = recognition.kind === 'unread' && recognition.reason === 'page_time_limit';
    return isCut && secondsLeft < pageSeconds ? { ...recognition, reason: 'time_limit' } : recognition;
  }

  return {
    recognize: async (picture, signal) => {
      const recognition = await read(picture, signal);
      onPage?.(recognition);
      return recognition;
    },
  };
}

/**
 * Reads a page upright. If its words are doubtful, the program finds its orientation and its script with the data `osd`, and
 * reads it again if they are others.
 */
async function readSuitably(
  picture: Picture,
  { configured, ...run }: TesseractRun & { readonly configured: readonly string[] },
  signal: AbortSignal,
): Promise<Recognition> {
  const { installed } = run.tesseract;
  const first = { ...(await runTesseract(picture, run, signal)), languages: run.languages };
  if (first.kind !== 'read' || !installed.includes('osd')) return first;
  const page = readWords(first.tsv);
  if (page.confidence >= confidenceFloors.warning) return first;
  let { seconds } = first;
  const runAgain = async (shown: Picture, change: Partial<TesseractRun>) => {
    const milliseconds = Math.max(0, run.milliseconds - 1000 * seconds);
    const again = await runTesseract(shown, { ...run, ...change, milliseconds }, signal);
    seconds += again.seconds;
    return again;
  };
  const printed = await runAgain(withoutLegible(picture, page), { mode: 'layout' });
  const { isTurned, script, isCertain } = readLayout(printed.kind === 'read' ? printed.tsv : '');
  const fitting = languagesFor(script, { configured, installed });
  if (fitting === undefined && isCertain)
    return { kind: 'unread', reason: 'script_not_installed', seconds, remedy: remedyFor(script) };
  const languages = fitting ?? configured;
  if (!isTurned && languages.join() === run.languages.join()) return { ...first, seconds };
  const second = await runAgain(picture, { mode: isTurned ? 'turned' : 'upright', languages });
  const isBetter = second.kind === 'read' && readWords(second.tsv).confidence > page.confidence;
  return isBetter ? { ...second, languages, seconds } : { ...first, seconds };
}

/** Erases the words that were read well. Between Latin words, `osd` does not find another script. */
function withoutLegible(picture: Picture, { paragraphs }: ReadPage): Picture {
  const { width } = picture;
  const gray = Buffer.from(picture.gray);
  const words = paragraphs.flat().flatMap((line) => line.words);
  for (const { box, confidence } of words) {
    if (confidence < confidenceFloors.warning) continue;
    const [left, top, across, down] = box;
    for (let row = top; row < top + down; row += 1) gray.fill(255, row * width + left, row * width + left + across);
  }
  return { ...picture, gray };
}

function remedyFor(script: string): string {
  return `Their script is ${script}. Install the package ${packageOf(usualLanguage(script))}, or the one of their language.`;
}

/** Metrics of the reading of scanned pages. */
export interface OcrMetrics {
  observe(recognition: Recognition): void;
}

/** Upper bounds in seconds, from an empty page to a page at its time limit. */
const bounds = [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

export function createOcrMetrics(registry: Registry): OcrMetrics {
  const pages = new Counter({
    name: 'quartermaster_ocr_pages_total',
    help: 'Scanned pages by outcome: read, or the reason why a page was not read.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'quartermaster_ocr_page_seconds',
    help: 'Seconds that the program took for one scanned page.',
    buckets: bounds,
    registers: [registry],
  });
  return {
    observe: (recognition) => {
      pages.inc({ outcome: recognition.kind === 'read' ? 'read' : recognition.reason });
      if (recognition.seconds > 0) seconds.observe(recognition.seconds);
    },
  };
}
