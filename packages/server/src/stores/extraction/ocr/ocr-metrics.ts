import { Counter, Histogram, type Registry } from '../../../platform/metrics.ts';
import type { Recognition } from './recognition.ts';

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
