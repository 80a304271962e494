import { buildKernelModule } from './kernel-module.ts';

/** The functions of `kernel-module.ts`. Addresses are bytes of the memory. */
export interface Kernel {
  sum(codes: number, tables: number, blocks: number, parts: number, sums: number): void;
  estimate(
    ...of: [
      ...addresses: [sums: number, sixteens: number, bases: number, scales: number, spreads: number],
      ...outputs: [outputs: number, estimateMaxima: number, boundMaxima: number],
      ...numbers: [shift: number, step: number, offset: number, error: number, stepError: number],
    ]
  ): void;
  dot(nibbles: number, query: number, parts: number): number;
}

export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB. `buffer` is another one afterwards. */
  grow(pages: number): number;
}

/** TypeScript declares WebAssembly only in its DOM library. */
interface WebAssemblyCode {
  readonly Memory: new (size: { initial: number; maximum: number }) => KernelMemory;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyCode };

export const memoryPageBytes = 65_536;
/** The maximum of 32-bit addresses. */
export const mostMemoryPages = 65_536;

export function createKernelMemory(): KernelMemory {
  return new WebAssembly.Memory({ initial: 1, maximum: mostMemoryPages });
}

export function createKernel(memory: KernelMemory): Kernel {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(buildKernelModule()), { host: { memory } });
  return exports as Kernel; // as `kernel-module.ts` exports it
}
