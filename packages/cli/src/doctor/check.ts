/** One thing that a command or a service needs. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed';
  /** Describes the result. For a warning or a failure, it also names the remedy. */
  readonly message: string;
}

export const ok = (name: string, message: string): Check => ({ name, state: 'ok', message });
export const warning = (name: string, message: string): Check => ({ name, state: 'warning', message });
export const failed = (name: string, message: string): Check => ({ name, state: 'failed', message });
