import type { Logger } from '../../platform/log/logger.ts';
import { frameKinds } from '../../platform/processes/frames.ts';
import type { SpawnSettings } from '../../platform/processes/isolation/spawn-isolated.ts';
import { superviseProcess } from '../../platform/processes/supervised-process.ts';
import { watchMemory } from '../../platform/processes/usage-watch.ts';
import { pictureLimits } from './picture-limits.ts';
import { converterMemoryMb, spawnConverter } from './spawn-converter.ts';

/** The result of one conversion. */
export type Conversion =
  | { readonly kind: 'converted'; readonly png: Buffer }
  /** `timed_out` and `crashed` have ended the process. */
  | { readonly kind: 'invalid' | 'timed_out' | 'crashed' };

/** A process that converts one picture at a time. */
export interface ConverterProcess {
  /** Never rejects. */
  convert(svg: Uint8Array): Promise<Conversion>;
  isAlive(): boolean;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** The time limit of the start, which is slow on a busy machine. */
const startMs = 15_000;
const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');

/** @param convertMs the time limit of one picture */
export function startConverter(settings: SpawnSettings, convertMs: number, logger: Logger): ConverterProcess {
  let resolve: ((conversion: Conversion) => void) | undefined;
  const end = (kind: 'timed_out' | 'crashed') => {
    resolve?.({ kind });
    child.kill();
  };
  const child = superviseProcess(spawnConverter(settings), {
    maxFrameBytes: () => pictureLimits.pngBytes,
    onFrameTooLong: () => end('crashed'),
    onFrame: (kind, content) => resolve?.(readAnswer(kind, content)),
  });
  const unwatch = watchMemory(child.pid, converterMemoryMb, () => end('crashed'));
  const gone = child.exited.then(({ wasReady, code, signal, printed }) => {
    unwatch();
    if (!wasReady) logger.warn({ code, signal, stderr: printed }, 'picture converter did not start');
    resolve?.({ kind: 'crashed' });
  });

  /** @returns false when the process did not start in time */
  async function isReady(): Promise<boolean> {
    const timer = setTimeout(child.kill, startMs);
    return await child.ready.finally(() => clearTimeout(timer));
  }

  return {
    async convert(svg) {
      if (!(await isReady())) return { kind: 'crashed' };
      const answer = Promise.withResolvers<Conversion>();
      resolve = answer.resolve;
      if (!child.isAlive()) return { kind: 'crashed' };
      const timer = setTimeout(() => end('timed_out'), convertMs);
      child.send(frameKinds.bytes, svg);
      return await answer.promise.finally(() => clearTimeout(timer));
    },
    isAlive: child.isAlive,
    stop: () => {
      child.kill();
      return gone;
    },
  };
}

/** A hostile picture may control the process, so its answer is checked. */
function readAnswer(kind: number, content: Buffer): Conversion {
  if (kind !== frameKinds.bytes) return { kind: 'invalid' };
  const isPng = content.subarray(0, pngSignature.length).equals(pngSignature);
  // A copy, because the content shares memory with what is read next.
  return isPng ? { kind: 'converted', png: Buffer.from(content) } : { kind: 'crashed' };
}
