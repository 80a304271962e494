import { access } from 'node:fs/promises';

/** Whether something is at the path that this process may look at; a link is what it leads to. */
export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
