import type { Logger } from '../kernel/log/logger.ts';

/** The projects whose run records include inputs. Held in memory, because every run reads it. */
export interface InputKeepers {
  has(projectId: string): boolean;
  close(): void;
}

export interface InputKeepersDeps {
  readonly find: () => Promise<readonly string[]>;
  readonly logger: Logger;
  /** Milliseconds until this process applies a change. */
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
        // An unknown setting counts as no, so that no input is stored without consent.
        keepers = new Set();
        logger.warn({ err: error }, 'project settings not refreshed');
      },
    );
  }, refreshMs);
  timer.unref();
  return { has: (projectId) => keepers.has(projectId), close: () => clearInterval(timer) };
}
