import { createLogger } from '../../../../platform/log/logger.ts';
import { findIsolation } from '../../../../platform/processes/isolation/find-isolation.ts';
import { type OcrEngine, type OcrOptions, openOcr } from '../open-ocr.ts';

/** Opens OCR with the program of the system. */
export async function openTestOcr(options: Partial<OcrOptions> = {}): Promise<OcrEngine> {
  const { settings } = (await findIsolation()).sandbox;
  if (settings === undefined) throw new Error('this machine has no sandbox');
  return openOcr({
    program: '/usr/bin/tesseract',
    folders: [],
    languages: ['eng'],
    maxPages: 20,
    maxPixels: 25_000_000,
    pageSeconds: 120,
    recordSeconds: 600,
    memoryMb: 1024,
    isolation: settings,
    logger: createLogger('silent'),
    ...options,
  });
}
