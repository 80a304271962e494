import type { Attack } from './attack.ts';
import { documentAttacks } from './document-attacks.ts';
import { runAttacks, signInAttacks, streamAttacks } from './run-attacks.ts';

export const attacks: readonly Attack[] = [...documentAttacks, ...runAttacks, ...streamAttacks, ...signInAttacks];

export function nameOf({ queue, payload, keyless }: Attack): string {
  return `${queue}: ${payload}${keyless === true ? ', without a key' : ''}`;
}
