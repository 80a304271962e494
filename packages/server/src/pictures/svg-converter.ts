import { type Admission, createAdmission } from '../kernel/admission/admission.ts';
import type { Owner } from '../kernel/admission/owner.ts';
import { onceRetried } from '../kernel/concurrency/once-retried.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { Counter, type Registry } from '../kernel/metrics.ts';
import { chooseIsolation, findIsolation } from '../processes/isolation/find-isolation.ts';
import { type ConverterProcess, startConverter } from './converter-process.ts';
import { pictureLimits } from './picture-limits.ts';
import { converterFiles } from './spawn-converter.ts';

/** Converts SVG pictures into PNG, for clients that show no SVG. Source: ADR 0103. */
export interface SvgConverter {
  /**
   * Converts in a confined process. Never rejects.
   * @returns undefined when the picture is invalid, exceeds a limit, refers to other files, or waits for too long
   */
  toPng(svg: Uint8Array, owner: Owner, signal: AbortSignal): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

export interface SvgConverterOptions {
  readonly logger: Logger;
  readonly metrics: Registry;
  /** The time limit of one picture. Default: five seconds. */
  readonly convertMs?: number;
  /** Milliseconds without a picture after which the process ends. */
  readonly idleMs?: number;
  /** Default: a new admission with its own counts and metrics. */
  readonly admission?: Admission;
}

const waitMs = 20_000;
/** The memory of WebAssembly does not shrink. */
const picturesOfProcess = 100;

/** Starts a process with the first picture. The process converts pictures of one project only, one at a time. */
export function openSvgConverter(options: SvgConverterOptions): SvgConverter {
  const { logger, metrics, convertMs = 5_000, idleMs = 60_000, admission = createAdmission() } = options;
  const isolation = onceRetried(async () => await chooseIsolation(await findIsolation(), converterFiles()));
  const queue = admission.queue('svg_pictures');
  const closing = new AbortController();
  let current: { readonly projectId: string; readonly process: ConverterProcess; pictures: number } | undefined;
  let idle: NodeJS.Timeout | undefined;
  const results = new Counter({
    name: 'quartermaster_svg_conversions_total',
    help: 'SVG pictures in results of MCP tools, by result: `converted`, `invalid`, `refused` by a limit, `timed_out` or `crashed`.',
    labelNames: ['result'] as const,
    registers: [metrics],
  });

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ending = current?.process;
    current = undefined;
    await ending?.stop();
  }

  async function processOf(projectId: string): Promise<ConverterProcess> {
    clearTimeout(idle);
    const isFit = current?.projectId === projectId && current.process.isAlive() && current.pictures < picturesOfProcess;
    if (!isFit) await end();
    const settings = await isolation();
    closing.signal.throwIfAborted();
    current ??= { projectId, process: startConverter(settings, convertMs, logger), pictures: 0 };
    current.pictures += 1;
    return current.process;
  }

  async function convert(svg: Uint8Array, projectId: string) {
    try {
      return await (await processOf(projectId)).convert(svg);
    } catch (error) {
      if (!closing.signal.aborted) logger.error({ err: error }, 'picture not converted');
      return { kind: 'crashed' } as const;
    } finally {
      if (closing.signal.aborted) await end();
      else idle = setTimeout(() => void end(), idleMs).unref();
    }
  }

  return {
    async toPng(svg, owner, signal) {
      const stop = AbortSignal.any([signal, closing.signal, AbortSignal.timeout(waitMs)]);
      const isSmall = svg.length <= pictureLimits.svgBytes;
      const convertInTurn = () => queue.run(owner, () => convert(svg, owner.projectId), { signal: stop });
      // The only error is that of a full queue.
      const conversion = isSmall ? await convertInTurn().catch(() => null) : null;
      results.inc({ result: conversion?.kind ?? 'refused' });
      return conversion?.kind === 'converted' ? conversion.png : undefined;
    },
    close: async () => {
      closing.abort();
      await end();
    },
  };
}
