import type { Owner } from '../../platform/admission/owner.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { onceRetried } from '../../platform/concurrency/once.ts';
import { Counter } from '../../platform/metrics.ts';
import { chooseIsolation, findIsolation } from '../../platform/processes/isolation/find-isolation.ts';
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

export interface SvgConverterOptions extends Pick<CommonDeps, 'admission' | 'logger' | 'metrics'> {
  /** The time limit of one picture. Default: five seconds. */
  readonly convertMs?: number;
  /** Milliseconds without a picture after which the process ends. */
  readonly idleMs?: number;
}

const waitMs = 20_000;
/** The memory of WebAssembly does not shrink. */
const picturesOfProcess = 100;

interface Converter {
  readonly projectId: string | null;
  readonly process: ConverterProcess;
  pictures: number;
}

/** Starts a process with the first picture. A process converts pictures of one project only, one at a time. */
export function openSvgConverter(options: SvgConverterOptions): SvgConverter {
  const { logger, metrics, convertMs = 5_000, idleMs = 60_000, admission } = options;
  const isolation = onceRetried(async () => await chooseIsolation(await findIsolation(), converterFiles()));
  const queue = admission.queue('svg_pictures');
  const closing = new AbortController();
  const all = new Set<Converter>();
  /** The process that converted last. The next picture of its project may use it. */
  let idle: Converter | undefined;
  let timer: NodeJS.Timeout | undefined;
  const results = new Counter({
    name: 'quartermaster_svg_conversions_total',
    help: 'SVG pictures in results of MCP tools, by result: `converted`, `invalid`, `refused` by a limit, `timed_out` or `crashed`.',
    labelNames: ['result'] as const,
    registers: [metrics],
  });

  function takeIdle(): Converter | undefined {
    clearTimeout(timer);
    const taken = idle;
    idle = undefined;
    return taken;
  }

  async function end(converter: Converter | undefined): Promise<void> {
    await converter?.process.stop();
    if (converter !== undefined) all.delete(converter);
  }

  async function take(projectId: string | null): Promise<Converter> {
    const taken = takeIdle();
    const isFit = taken?.projectId === projectId && taken.process.isAlive() && taken.pictures < picturesOfProcess;
    if (taken !== undefined && isFit) return taken;
    await end(taken);
    const settings = await isolation();
    closing.signal.throwIfAborted();
    const started = { projectId, process: startConverter(settings, convertMs, logger), pictures: 0 };
    all.add(started);
    return started;
  }

  async function release(converter: Converter): Promise<void> {
    const former = takeIdle();
    idle = converter;
    timer = setTimeout(() => void end(takeIdle()), idleMs).unref();
    await end(closing.signal.aborted ? takeIdle() : former);
  }

  async function convert(svg: Uint8Array, projectId: string | null) {
    let converter: Converter | undefined;
    try {
      converter = await take(projectId);
      converter.pictures += 1;
      return await converter.process.convert(svg);
    } catch (error) {
      if (!closing.signal.aborted) logger.error({ err: error }, 'picture not converted');
      return { kind: 'crashed' } as const;
    } finally {
      if (converter !== undefined) await release(converter);
    }
  }

  return {
    async toPng(svg, owner, signal) {
      const stop = AbortSignal.any([signal, closing.signal, AbortSignal.timeout(waitMs)]);
      const isSmall = svg.length <= pictureLimits.svgBytes;
      const convertInTurn = () => queue.tryRun(owner, () => convert(svg, owner.projectId), { signal: stop });
      const conversion = isSmall ? await convertInTurn() : null;
      results.inc({ result: conversion?.kind ?? 'refused' });
      return conversion?.kind === 'converted' ? conversion.png : undefined;
    },
    close: async () => {
      closing.abort();
      await Promise.all([...all].map(end));
    },
  };
}
