/** One thing that a command or a service needs. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed';
  /** What was found, and for a warning or a failure what to do. */
  readonly message: string;
}

export const ok = (name: string, message: string): Check => ({ name, state: 'ok', message });
export const warning = (name: string, message: string): Check => ({ name, state: 'warning', message });
export const failed = (name: string, message: string): Check => ({ name, state: 'failed', message });
