import type { Random } from '../support/random.ts';
import type { Cut } from './crash-state.ts';
import type { Recording } from './disk-model.ts';

/** Places most cuts right after a response, when nothing that was acknowledged may be lost, and the others anywhere. */
export function chooseCut(recording: Recording, random: Random): Cut {
  const answers = recording.marks.filter(({ text }) => text.includes('"answer"'));
  const at = random.chance(0.6) ? random.pick(answers)?.at : undefined;
  return {
    at: (at ?? random.below(recording.length)) + 1,
    model: random.chance(0.5) ? 'strict' : 'ordered',
    survival: random.pick([0, 0, 0.2, 0.5, 0.5, 0.8, 1]) ?? 0,
  };
}

export function describeCut({ at, model, survival }: Cut): string {
  return `cut after entry ${at}, ${model}, survival ${survival}`;
}
