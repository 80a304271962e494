import type { Logger } from '../kernel/log/logger.ts';

/** The projects whose run records hold inputs, in memory: every run asks. */
export interface InputKeepers {
  has(projectId: string): boolean;
  close(): void;
}

export interface InputKeepersDeps {
  readonly find: () => Promise<readonly string[]>;
  readonly logger: Logger;
  /** Milliseconds until a change is known here. */
  readonly refreshMs?: number;
}

export async function openInputKeepers({ find, logger, refreshMs = 2000 }: InputKeepersDeps): Promise<InputKeepers> {
  let keepers = new Set(await find());
  const timer = setInterval(() => {
    find().then(
      (found) => {
        keepers = new Set(found);
      },
      (error: unknown) => {
        // Not known means no: an input is kept only for who asks now.
        keepers = new Set();
        logger.warn({ err: error }, 'project settings not refreshed');
      },
    );
  }, refreshMs);
  timer.unref();
  return { has: (projectId) => keepers.has(projectId), close: () => clearInterval(timer) };
}
