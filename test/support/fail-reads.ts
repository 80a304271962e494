import fs from 'node:fs';

type Done = (error: Error | null, ...results: unknown[]) => void;

/**
 * Lets every read of a file fail with EIO, as of a damaged sector; returns what ends it. Loaded with `--import`, it does so for
 * the files that FAIL_READS names, separated by colons.
 */
export function failReads(path: string): () => void {
  const { dev, ino } = fs.statSync(path);
  // The last argument of every form is the callback.
  const patched = fs as unknown as { read: (fd: number, ...args: unknown[]) => void };
  const original = patched.read;
  const failing: typeof original = (fd, ...args) => {
    const found = fs.fstatSync(fd);
    if (found.ino !== ino || found.dev !== dev) return original(fd, ...args);
    const failure = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' });
    process.nextTick(args.at(-1) as Done, failure); // as above
  };
  // `promisify` looks at properties of the function.
  patched.read = Object.defineProperties(failing, Object.getOwnPropertyDescriptors(original));
  return () => {
    patched.read = original;
  };
}

for (const path of (process.env.FAIL_READS ?? '').split(':').filter((name) => name !== '')) failReads(path);
