import { readFile } from 'node:fs/promises';

const intervalMs = 100;

/**
 * Calls `onExceeded` once when a process holds more memory of its own than the limit; buffers and WebAssembly are not
 * bounded by the limit of the heap. Does nothing where there is no /proc, or until the process is known.
 * @returns a function that ends the watch.
 */
export function watchMemory(pidOf: () => number | undefined, limitMb: number, onExceeded: () => void): () => void {
  let reading = false;
  const timer = setInterval(async () => {
    const pid = pidOf();
    if (reading || pid === undefined) return;
    reading = true;
    const used = await ownMemoryMb(pid);
    reading = false;
    if (used === null) clearInterval(timer);
    else if (used > limitMb) {
      clearInterval(timer);
      onExceeded();
    }
  }, intervalMs);
  return () => clearInterval(timer);
}

/** Without the pages of the program file, which all processes share. Null when it cannot be told. */
async function ownMemoryMb(pid: number): Promise<number | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}
