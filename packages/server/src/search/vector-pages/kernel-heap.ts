import { createKernelMemory, type KernelMemory, memoryPageBytes, mostMemoryPages } from './kernel.ts';

/** Gives parts of the memory of the kernel. */
export interface KernelHeap {
  readonly memory: KernelMemory;
  /** Returns the memory as 32-bit floats, until the next allocation. */
  floats(): Float32Array;
  /** Returns the address of free bytes. Undefined when the limit is reached. */
  allocate(bytes: number): number | undefined;
  free(address: number): void;
}

const alignment = 64;

/** Gives the first free part that is large enough, and joins neighbours that are free. */
export function createKernelHeap(limit: number): KernelHeap {
  const memory = createKernelMemory();
  const most = Math.min(limit, mostMemoryPages * memoryPageBytes);
  let floats = new Float32Array(memory.buffer);
  const used = new Map<number, number>();
  /** Free parts, in the order of their addresses. Address 0 is never given. */
  let gaps = [{ at: alignment, bytes: memoryPageBytes - alignment }];

  function grow(bytes: number): boolean {
    const last = gaps.at(-1);
    const end = memory.buffer.byteLength;
    const spare = last !== undefined && last.at + last.bytes === end ? last.bytes : 0;
    const pages = Math.ceil((bytes - spare) / memoryPageBytes);
    if (end + pages * memoryPageBytes > Math.max(most, memoryPageBytes)) return false;
    memory.grow(pages);
    if (spare > 0 && last !== undefined) last.bytes += pages * memoryPageBytes;
    else gaps.push({ at: end, bytes: pages * memoryPageBytes });
    return true;
  }

  function take(bytes: number): number | undefined {
    const gap = gaps.find((each) => each.bytes >= bytes);
    if (gap === undefined) return undefined;
    const { at } = gap;
    gap.at += bytes;
    gap.bytes -= bytes;
    if (gap.bytes === 0) gaps = gaps.filter((each) => each !== gap);
    used.set(at, bytes);
    return at;
  }

  return {
    memory,
    floats() {
      if (floats.length === 0) floats = new Float32Array(memory.buffer);
      return floats;
    },
    allocate(wanted) {
      const bytes = Math.max(alignment, Math.ceil(wanted / alignment) * alignment);
      return take(bytes) ?? (grow(bytes) ? take(bytes) : undefined);
    },
    free(address) {
      const bytes = used.get(address);
      if (bytes === undefined) throw new Error('the address was not given');
      used.delete(address);
      const joined: typeof gaps = [];
      for (const gap of [...gaps, { at: address, bytes }].sort((a, b) => a.at - b.at)) {
        const last = joined.at(-1);
        if (last !== undefined && last.at + last.bytes === gap.at) last.bytes += gap.bytes;
        else joined.push(gap);
      }
      gaps = joined;
    },
  };
}
