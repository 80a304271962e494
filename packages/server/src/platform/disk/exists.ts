import { access } from 'node:fs/promises';

/** Whether the path leads to a file or folder that this process can access. Links are followed. */
export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
