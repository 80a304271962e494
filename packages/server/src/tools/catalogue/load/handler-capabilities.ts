import type { Isolation } from '@quartermaster/contract';

export interface HandlerCapabilities {
  /** The isolation of handlers: one for all bundles, or a function of the bundle's folder. */
  readonly handlers: HandlerIsolation | ((bundleFolder: string) => HandlerIsolation);
  /**
   * Why this machine cannot provide `sandbox`, as probed at start; null when it can. Handlers that need it are refused.
   * A promise while the probes still run, because bundles are read at the same time.
   */
  readonly sandboxMissing?: string | null | Promise<string | null>;
}

/** The capabilities after the probes have ended. */
export type KnownCapabilities = Omit<HandlerCapabilities, 'sandboxMissing'> & {
  readonly sandboxMissing: string | null | undefined;
};

export type HandlerIsolation = Exclude<Isolation, 'none'>;
