import type { Attack } from './attack.ts';
import { documentAttacks } from './document-attacks.ts';
import { runAttacks, streamAttacks } from './run-attacks.ts';

export const attacks: readonly Attack[] = [...documentAttacks, ...runAttacks, ...streamAttacks];

export function nameOf({ queue, payload, keyless }: Attack): string {
  return `${queue}: ${payload}${keyless === true ? ', without a key' : ''}`;
}
