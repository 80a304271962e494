import type { Isolation } from '@quartermaster/contract';

export interface HandlerCapabilities {
  /** What isolates the handlers of a bundle: the same for all, or by the folder of the bundle. */
  readonly handlers: HandlerIsolation | ((bundleFolder: string) => HandlerIsolation);
  /**
   * Why this machine, as probed at start, cannot give `sandbox`: handlers that need it are refused. Null: it can.
   * A promise: bundles are read while the probes still run.
   */
  readonly sandboxMissing?: string | null | Promise<string | null>;
}

/** The same, once the probes have ended. */
export type KnownCapabilities = Omit<HandlerCapabilities, 'sandboxMissing'> & {
  readonly sandboxMissing: string | null | undefined;
};

export type HandlerIsolation = Exclude<Isolation, 'none'>;
