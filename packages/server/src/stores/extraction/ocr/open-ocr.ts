import type { Logger } from '../../../platform/log/logger.ts';
import { Counter, Histogram, type Registry } from '../../../platform/metrics.ts';
import { sandboxRemedy } from '../../../platform/processes/isolation/probe.ts';
import type { SpawnSettings } from '../../../platform/processes/isolation/spawn-isolated.ts';
import { confidenceFloors } from './ocr-report.ts';
import { readWords } from './read-words.ts';
import type { OcrJob, Picture, Recognition } from './recognition.ts';
import { findTesseract, runTesseract, type TesseractRun } from './run-tesseract.ts';

export interface OcrOptions {
  /** A path, or a name to look up in `folders`. */
  readonly program: string;
  readonly folders: readonly string[];
  readonly languages: readonly string[];
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

  async function read(picture: Picture, signal: AbortSignal): Promise<Recognition> {
    const secondsLeft = recordSeconds - seconds;
    if (pages >= maxPages) return { kind: 'unread', reason: 'page_limit', seconds: 0 };
    if (secondsLeft <= 0) return { kind: 'unread', reason: 'time_limit', seconds: 0 };
    pages += 1;
    const milliseconds = 1000 * Math.min(pageSeconds, secondsLeft);
    const recognition = await readTurned(picture, { ...run, milliseconds }, signal);
    seconds += recognition.seconds;
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

/** Reads a page as it is, and again with its orientation, for which the program needs the data `osd`, when its words are not legible. */
async function readTurned(picture: Picture, run: TesseractRun, signal: AbortSignal): Promise<Recognition> {
  const upright = await runTesseract(picture, run, signal);
  const milliseconds = run.milliseconds - 1000 * upright.seconds;
  if (upright.kind !== 'read' || milliseconds <= 0 || !run.tesseract.installed.includes('osd')) return upright;
  const { confidence } = readWords(upright.tsv);
  if (confidence >= confidenceFloors.read) return upright;
  const turned = await runTesseract(picture, { ...run, milliseconds, findsOrientation: true }, signal);
  const isBetter = turned.kind === 'read' && readWords(turned.tsv).confidence > confidence;
  return { ...(isBetter ? turned : upright), seconds: upright.seconds + turned.seconds };
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
