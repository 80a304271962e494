import { Counter, type Registry } from '../../../platform/metrics.ts';
import type { PageResult } from './open-page-reader.ts';

/** Counts the requests for passages on pages. */
export function createPageMetrics(registry: Registry): (kind: PageResult['kind']) => void {
  const results = new Counter({
    name: 'quartermaster_pages_read_total',
    help: 'Requests for boxes or pictures of pages, by result: `read`, `no_page`, `failed`, `busy` or `missing`.',
    labelNames: ['result'] as const,
    registers: [registry],
  });
  return (result) => results.inc({ result });
}
