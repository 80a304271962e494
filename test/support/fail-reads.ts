import fs from 'node:fs';

type Done = (error: Error | null, ...results: unknown[]) => void;

/**
 * Lets every read of a file fail with EIO, as from a damaged sector. Returns a function that ends this. When the module
 * is loaded with `--import`, it does so for the files in FAIL_READS, separated by colons.
 */
export function failReads(path: string): () => void {
  const { dev, ino } = fs.statSync(path);
  // The callback is the last argument of every overload.
  const patched = fs as unknown as { read: (fd: number, ...args: unknown[]) => void };
  const original = patched.read;
  const failing: typeof original = (fd, ...args) => {
    const found = fs.fstatSync(fd);
    if (found.ino !== ino || found.dev !== dev) return original(fd, ...args);
    const failure = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' });
    process.nextTick(args.at(-1) as Done, failure); // the type as above
  };
  // `promisify` reads properties of the function.
  patched.read = Object.defineProperties(failing, Object.getOwnPropertyDescriptors(original));
  return () => {
    patched.read = original;
  };
}

for (const path of (process.env.FAIL_READS ?? '').split(':').filter((name) => name !== '')) failReads(path);
