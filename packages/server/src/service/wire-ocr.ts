import type { OcrMetrics } from '../extraction/ocr/ocr-metrics.ts';
import { noOcr, type OcrEngine, openOcr } from '../extraction/ocr/open-ocr.ts';
import { OperatorError } from '../kernel/process/operator-error.ts';
import type { SpawnSettings } from '../processes/isolation/spawn-isolated.ts';
import type { ServiceContext } from './context.ts';

/**
 * Opens the reading of scanned pages.
 * @throws OperatorError when the setting requires it and this machine has no program for it
 */
export async function openPageReading(
  { config, logger, metrics }: Pick<ServiceContext, 'config' | 'logger'> & { readonly metrics: OcrMetrics },
  isolation: SpawnSettings,
): Promise<OcrEngine> {
  const { mode, ...options } = config.ocr;
  if (mode === 'off') return noOcr;
  const memoryMb = config.extractionMemoryMb;
  const engine = await openOcr({ ...options, isolation, memoryMb, logger, onPage: metrics.observe });
  if (mode === 'on' && engine.job.kind === 'missing')
    throw new OperatorError(`QUARTERMASTER_OCR is on, but scanned pages cannot be read. ${engine.job.remedy}`);
  return engine;
}
